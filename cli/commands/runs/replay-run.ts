/** Replays a run and prints how the replay compares with it. */
import { setTimeout } from 'node:timers/promises';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { printRunPlan } from '../../experiments/planning/plan-run.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { age } from '../../terminal/columns.ts';
import type { RunParams } from './follow-run.ts';
import { watchRun } from './watch-run.ts';

type Replay = ResponseBody<'listRunReplays'>['items'][number];
type Comparison = NonNullable<Replay['comparison']>;

const POLL_MS = 500;
/** The comparison follows the end of the replay within seconds. */
const COMPARISON_MS_MAX = 60_000;

/** A command accepts no more, because each replay is a run. */
export const REPETITIONS_MAX = 50;

interface ReplayOptions {
  name?: string;
  description?: string;
  repetitions: number;
  plan?: boolean;
}

/** Creates replays, waits for them, and prints each comparison. The exit code becomes 1 when one differs. */
export async function replayRun(
  session: Session,
  original: RunParams,
  { repetitions, plan, ...body }: ReplayOptions,
): Promise<void> {
  const client = session.connect();
  if (plan) {
    const { body: run } = await client.call('getRunMetadata', { params: original });
    await printRunPlan(session, [{ instance: run.application_instance_id, runs: repetitions }]);
    return;
  }
  const ids: string[] = [];
  for (let n = 0; n < repetitions; n += 1) {
    const { body: created } = await client.call('replayRun', { params: original, body });
    session.output.note(`Created run ${created.run_id}, a replay of ${original.run_id}.`);
    ids.push(created.run_id);
  }
  const replays: (Replay & { comparison: Comparison })[] = [];
  for (const run_id of ids) {
    await watchRun(session, { ...original, run_id });
    replays.push(await waitForComparison(session, original, run_id));
  }
  if (replays.some(({ comparison }) => comparison.verdict === 'different'))
    session.exitCode = EXIT_CODES.failure;
  session.output.print({
    json: repetitions === 1 ? replays[0] : replays,
    text: () => replays.map(({ comparison }) => formatComparison(session, comparison)).join(''),
    quiet: () => ids,
  });
}

async function waitForComparison(
  session: Session,
  original: RunParams,
  replayId: string,
): Promise<Replay & { comparison: Comparison }> {
  const { signal } = session.terminal;
  const end = Date.now() + COMPARISON_MS_MAX;
  do {
    const replay = await findReplay(session, original, replayId);
    if (replay?.comparison) return { ...replay, comparison: replay.comparison };
    await setTimeout(POLL_MS, undefined, { signal });
  } while (Date.now() < end);
  throw new CommandError(
    `The replay ${replayId} has ended, and the server has not compared it after ${COMPARISON_MS_MAX / 1000} s.`,
    EXIT_CODES.unavailable,
  );
}

/** The list is newest first, so the replays of one command are on its first page. */
async function findReplay(
  session: Session,
  params: RunParams,
  replayId: string,
): Promise<Replay | undefined> {
  const { body } = await session.connect().call('listRunReplays', { params });
  return body.items.find(({ run_id }) => run_id === replayId);
}

function formatComparison({ output }: Session, comparison: Comparison): string {
  const { verdict, reason, differences, number_of_differences: count, may_differ: causes } = comparison;
  const places = differences.map(
    ({ path, original, replay }) =>
      `  ${cleanLine(path)}: ${cleanLine(original ?? 'absent')} → ${cleanLine(replay ?? 'absent')}`,
  );
  const more = count > differences.length ? [`  … and ${count - differences.length} more places`] : [];
  const reasons = causes.map(
    ({ observed, description }) => `  ${observed ? 'observed' : 'possible'}: ${cleanLine(description)}`,
  );
  return [
    `${output.style(verdict === 'different' ? 'bad' : 'good', verdict)}: ${cleanLine(reason)}`,
    ...(places.length > 0 ? ['Differences:', ...places, ...more] : []),
    ...(reasons.length > 0 ? ['Reasons why the two can differ:', ...reasons] : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Prints the replays of a run with their verdicts. */
export async function printReplays(session: Session, params: RunParams): Promise<void> {
  const body = await readPages(
    Number.POSITIVE_INFINITY,
    async (page) => (await session.connect().call('listRunReplays', { params, query: page })).body,
  );
  session.output.printTable(
    body.items,
    {
      REPLAY: 'run_id',
      STATUS: 'status_v2',
      VERDICT: {
        value: ({ comparison }) => comparison?.verdict,
        tone: ({ comparison }) => (comparison?.verdict === 'different' ? 'bad' : undefined),
      },
      BY: 'user_email',
      CREATED: age('created_at'),
      REASON: ({ comparison }) => comparison?.reason,
    },
    { json: body, empty: `Run ${params.run_id} has no replays.`, id: ({ run_id }) => run_id },
  );
}
