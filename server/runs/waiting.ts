/**
 * Why a queued run has not started, and which it is. Told from what the workers that are alive can take and what they
 * have, the same numbers by which a run that may not wait is refused.
 */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { QUEUE_PLACE_MAX } from '@switchyard/contract/limits.ts';
import type { Waiting } from '@switchyard/contract/run-shapes.ts';
import type { Reader } from '../database/database.ts';
import { type Busy, freeSlots, type Serving, servingOf } from '../queue/pools.ts';
import { livingWorkers } from '../queue/workers.ts';
import type { RunsTable } from './schema.ts';
import { byTurn, countLoad, listNext, type Turn } from './turns.ts';

export type Queued = Turn & Pick<RunsTable, 'execution_class' | 'attempt'>;

interface Situation {
  serving: Serving;
  busy: readonly Busy[];
  /** How many stand before the run, counted to QUEUE_PLACE_MAX. */
  before: number;
}

/** The reason in a word and in a sentence. */
export function explain(run: Queued, { serving, busy, before }: Situation): Waiting {
  const told = (reason: Waiting['reason'], message: string): Waiting => ({
    place: before + 1,
    reason,
    message: `${message}${run.attempt > 0 ? ` It was started ${times(run.attempt)}, cut short and queued again at its old place.` : ''}`,
  });
  const { slots } = serving;
  const name = run.execution_class;
  if (serving.workers === 0)
    return told('no_worker', 'No worker is there to start it; it waits until one comes.');
  if (slots === 0)
    return told(
      'no_worker',
      `No worker that is there has a slot for execution class ${name}; it waits until one has.`,
    );
  const free = freeSlots(serving, busy);
  const ahead =
    before >= QUEUE_PLACE_MAX
      ? `${QUEUE_PLACE_MAX} runs or more stand before it`
      : before === 1
        ? 'one run stands before it'
        : `${before} runs stand before it`;
  if (free === 0) {
    const taken =
      slots === 1
        ? `The only slot that serves execution class ${name} is taken`
        : `All ${slots} slots that serve execution class ${name} are taken`;
    return told('slots_taken', `${taken}; ${before === 0 ? 'this run is next' : ahead}.`);
  }
  const left = `${free} of ${slots} slots that serve execution class ${name} ${free === 1 ? 'is' : 'are'} free`;
  if (before >= free) return told('runs_before', `${left}, and ${ahead}.`);
  return told('about_to_start', `${left}; this run is about to start.`);
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Of one run. */
export async function whyItWaits(db: Reader, run: Queued, now: number): Promise<Waiting> {
  const serving = servingOf(await livingWorkers(db, now, false), run.execution_class);
  const load = await countLoad(db, { classes: serving.classes, before: run, bound: QUEUE_PLACE_MAX });
  return explain(run, { serving, busy: load.busy, before: load.queued });
}

/** Of many: the first of each class are read once, and every run is looked up among them. */
export async function whyTheyWait(db: Reader, runs: readonly Queued[], now: number): Promise<Waiting[]> {
  if (runs.length === 0) return [];
  const workers = await livingWorkers(db, now, false);
  const serving = new Map(
    [...new Set(runs.map((run) => run.execution_class))].map((name) => [name, servingOf(workers, name)]),
  );
  const classes = new Set([...serving.values()].flatMap((one) => one.classes));
  const { busy } = await countLoad(db, { classes: [], bound: 0 });
  const next = await listNext(db, [...classes], QUEUE_PLACE_MAX);
  const lines = new Map<ExecutionClass, Turn[]>();
  for (const [name, one] of serving) {
    lines.set(
      name,
      next.filter((run) => one.classes.includes(run.execution_class)),
    );
  }
  return runs.map((run) => {
    const before = countBefore(lines.get(run.execution_class) ?? [], run);
    const own = serving.get(run.execution_class) ?? servingOf(workers, run.execution_class);
    return explain(run, { serving: own, busy, before });
  });
}

/** By halving: how many of the line, which is in order, have their turn before the run; at most QUEUE_PLACE_MAX. */
function countBefore(line: readonly Turn[], run: Turn): number {
  let low = 0;
  let high = Math.min(line.length, QUEUE_PLACE_MAX);
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = line[middle];
    if (one && byTurn(one, run) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
