/** Changes the tags of runs. */
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import type { RunParams } from './follow-run.ts';

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
