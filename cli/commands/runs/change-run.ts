/** Changes and deletes runs. */
import { CommandError } from '../../errors/command-error.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { printDeleted } from '../print-deleted.ts';
import type { RunParams } from './follow-run.ts';

/** Changes what is given. Throws without a change. */
export async function changeRun(
  session: Session,
  params: RunParams,
  { name, description, priority }: { name?: string; description?: string; priority?: number },
): Promise<void> {
  if (name === undefined && description === undefined && priority === undefined)
    throw new CommandError('Nothing to change was given. Give --name, --description or --priority.');
  const { body } = await session.connect().call('updateRun', {
    params,
    body: dropUndefined({ name, description, queuing_priority: priority }),
  });
  session.output.print({ json: body, text: () => `Updated run ${body.id}.\n`, quiet: () => body.id });
}

/** Adds and removes tags, and prints those that the run has then. */
export async function changeTags(
  session: Session,
  params: RunParams,
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
): Promise<void> {
  const client = session.connect();
  let { body } = await client.call('getRunTags', { params });
  if (add.length > 0 || remove.length > 0) {
    const tags = [...body.tags, ...add].filter((tag) => !remove.includes(tag));
    ({ body } = await client.call('setRunTags', { params, body: { tags } }));
  }
  const lines = body.tags.map(cleanLine);
  session.output.print({
    json: body,
    text: () => (lines.length === 0 ? `Run ${params.run_id} has no tags.\n` : `${lines.join('\n')}\n`),
    quiet: () => lines,
  });
}

/** Deletes the runs one after another; those before a refused one stay deleted. */
export async function deleteRuns(session: Session, runs: readonly RunParams[]): Promise<void> {
  for (const params of runs) await session.connect().call('deleteRun', { params });
  printDeleted(
    session,
    runs.map(({ run_id }) => run_id),
  );
}
