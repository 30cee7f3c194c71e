/** Commands for the queue. */
import type { Command } from '@commander-js/extra-typings';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { PRIORITY_MAX, PRIORITY_MIN } from '@switchyard/contract/limits.ts';
import { formatStartRange } from '@switchyard/contract/presentation/format-start-range.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';
import { readPages } from '../session/list-items.ts';
import type { Session } from '../session/session.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { formatAge } from '../terminal/format-time.ts';
import type { Output } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { parseWholeNumber } from './parse-values.ts';
import { defineCommand } from './resource/define-command.ts';

type ActiveRun = ResponseBody<'getQueue'>['runs'][number];

const RUNS_DEFAULT = 50;
const RUNS_MAX = 10_000;

export function defineQueueCommands(program: Command, session: Session): void {
  const queue = program.command('queue').description('Show what runs and what waits, and change the order.');
  queue
    .command('list', { isDefault: true })
    .description('List running and queued runs in queue order, each with its reason and predicted start.')
    .option('--limit <count>', 'The number of runs.', parseWholeNumber(1, RUNS_MAX), RUNS_DEFAULT)
    .addHelpText('after', '\nExample:\n  switchyard queue list')
    .action(({ limit }) => printQueue(session, limit));
  defineCommand(queue, session, {
    name: 'priority',
    operation: 'updateRun',
    text: 'Change the priority of a queued run.',
    arguments: {
      run_id: ['<run>', 'The id of the run.'],
      queuing_priority: [
        '<number>',
        `The priority, from ${PRIORITY_MIN} (first) to ${PRIORITY_MAX} (last).`,
        { parse: parseWholeNumber(PRIORITY_MIN, PRIORITY_MAX) },
      ],
    },
    prepare: async (values) => ({
      ...values,
      application_id: await findApplicationOfRun(session, String(values.run_id)),
    }),
    example: 'run-01jd3v7k9mq2z5x8 1',
    done: ({ id, queuing_priority }) => `The priority of ${id} is ${queuing_priority}.`,
  });
}

/** Returns the application of a queued run. The queue has the runs of all applications, so it is found there. */
async function findApplicationOfRun(session: Session, id: string): Promise<string> {
  if (session.options.app) return session.options.app;
  const { body } = await session.connect().call('getQueue');
  return body.runs.find((run) => run.id === id)?.application_id ?? session.findApplication();
}

async function printQueue(session: Session, limit: number): Promise<void> {
  const { options, output } = session;
  const { items, ...rest } = await readPages(limit, async (query) => {
    const { body } = await session.connect().call('getQueue', { query: { ...query, pagereturn: true } });
    return { ...body, items: body.runs };
  });
  const runs = options.app ? items.filter((run) => run.application_id === options.app) : items;
  output.print({
    json: { runs, ...rest },
    text: () => (runs.length === 0 ? 'Nothing runs and nothing waits.\n' : formatQueue(runs, output)),
    quiet: () => runs.map(({ id }) => id),
  });
}

/** Formats the runs as a table, and below it the reason of each run that waits: the sentences are too long for a column. */
function formatQueue(runs: readonly ActiveRun[], settings: Pick<Output, 'tableWidth' | 'style'>): string {
  const now = Date.now();
  const table = formatTable(
    runs,
    {
      RUN: 'id',
      APPLICATION: (run) => run.application_id,
      STATUS: { value: (run) => run.status_v2, tone: (run) => (run.waiting ? undefined : 'active') },
      PRIORITY: { value: (run) => run.queuing_priority, isNumeric: true },
      SINCE: (run) => formatAge(Date.parse(run.initiated_at ?? run.created_at), now),
      STARTS: ({ waiting }) => formatStart(waiting, now),
    },
    settings,
  );
  const reasons = runs.flatMap(({ id, waiting }) =>
    waiting ? [`${id}  ${cleanLine(waiting.message)}\n`] : [],
  );
  return reasons.length === 0 ? table : `${table}\n${reasons.join('')}`;
}

const formatStart = (waiting: Waiting | undefined, now: number): string =>
  waiting?.predicted_start ? formatStartRange(waiting.predicted_start, now) : '';
