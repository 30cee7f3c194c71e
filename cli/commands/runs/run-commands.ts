/** Commands for runs. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { PAGE_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import type { Session } from '../../session/session.ts';
import { formatAge } from '../../terminal/format-time.ts';
import type { Tone } from '../../terminal/style.ts';

/** Defines `runs`. */
export function defineRunCommands(program: Command, session: Session): void {
  program
    .command('runs')
    .description('List runs, the newest first.')
    .option('--status <status...>', 'Only runs with one of these statuses.')
    .option('--limit <count>', 'The number of runs.', parseLimit, 20)
    .addHelpText('after', '\nExample:\n  switchyard runs --app routing --status failed')
    .action(async ({ status, limit }) => {
      const application_id = session.findApplication();
      const { body } = await session.connect().call('listRuns', {
        params: { application_id },
        query: { limit, ...(status ? { status: status.join(',') } : {}) },
      });
      const now = Date.now();
      session.output.printTable(
        body.runs,
        [
          { title: 'RUN', value: ({ id }) => id },
          { title: 'NAME', value: ({ name }) => name },
          { title: 'STATUS', value: (run) => run.status_v2, tone: ({ status_v2 }) => chooseTone(status_v2) },
          { title: 'INSTANCE', value: (run) => run.application_instance_id },
          { title: 'CREATED', value: (run) => formatAge(Date.parse(run.created_at), now) },
        ],
        { json: body, empty: `Application ${application_id} has no such runs.`, id: ({ id }) => id },
      );
    });
}

function chooseTone(status: string): Tone | undefined {
  if (status === 'failed') return 'bad';
  if (status === 'running') return 'active';
  return status === 'succeeded' ? 'good' : undefined;
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_ITEMS_MAX) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${PAGE_ITEMS_MAX}.`);
}
