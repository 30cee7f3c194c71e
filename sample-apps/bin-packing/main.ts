/** Bin packing: reads a problem from standard input and writes the cheapest packing found to standard output. Progress goes to standard error. */
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { buildBoundModel } from './bound.ts';
import { buildFirstPacking, ruinAndRecreate, seededRandom } from './heuristic.ts';
import { fitsIn, type Problem, readProblem } from './input.ts';
import { InputError, parseJson } from './json-parsing.ts';
import { solveMip } from './mip.ts';
import { buildModel, countSlots } from './model.ts';
import { readOptions } from './options.ts';
import { type Packing, packingCost } from './packing.ts';
import { type CustomStatistics, Progress, roundValue } from './statistics.ts';

const optionDefinitions = {
  duration: { default: 10, minimum: 0.1, maximum: 43_200 },
  gap: { default: 0, minimum: 0, maximum: 1 },
  seed: { default: 1, minimum: 0, maximum: 2_147_483_647, whole: true },
  'heuristic.share': { default: 0.4, minimum: 0, maximum: 1 },
  'exact.columns': { default: 6000, minimum: 0, maximum: 1_000_000, whole: true },
};

type Options = Record<keyof typeof optionDefinitions, number>;
type Status = 'optimal' | 'feasible' | 'infeasible' | 'unknown';

interface Outcome {
  status: Status;
  reasons: string[];
  packing: Packing | null;
  bound: number;
  rounds: number;
  nodes: number;
}

/** Rounds per item without an improvement after which the exact model gets the remaining time. */
const staleRoundsPerItem = 150;

/** Returns one sentence for each item that fits into no bin. */
function findOversizedItems(problem: Problem): string[] {
  return problem.items
    .filter((item) => !problem.types.some((type) => type.quantity > 0 && fitsIn(item.size, type)))
    .map((item) => `item ${JSON.stringify(item.id)} of size ${item.size} is larger than every bin`);
}

class Search {
  private readonly progress: Progress;
  private readonly signal: AbortSignal;
  private readonly outcome: Outcome;

  constructor(progress: Progress, signal: AbortSignal) {
    this.progress = progress;
    this.signal = signal;
    this.outcome = {
      status: 'unknown',
      reasons: [],
      packing: null,
      bound: Number.NEGATIVE_INFINITY,
      rounds: 0,
      nodes: 0,
    };
  }

  async run(problem: Problem, options: Options): Promise<Outcome> {
    const { outcome } = this;
    outcome.reasons = findOversizedItems(problem);
    if (outcome.reasons.length > 0) return { ...outcome, status: 'infeasible' };
    const first = buildFirstPacking(problem);
    this.offer(first);
    await this.findBound(problem, options);
    if (outcome.status === 'infeasible') return outcome;
    const stale = staleRoundsPerItem * problem.items.length;
    const improved = await this.improve(problem, first, options, {
      staleMaximum: stale,
      share: options['heuristic.share'],
    });
    if (this.isExactAffordable(problem, options)) await this.solveExactly(problem, options);
    else await this.improve(problem, improved, options, { staleMaximum: Number.POSITIVE_INFINITY, share: 1 });
    if (outcome.packing) outcome.status = this.isProved(options.gap) ? 'optimal' : 'feasible';
    return outcome;
  }

  private offer(packing: Packing): void {
    // The tolerance of the solver is wider: a bin that it accepts may be slightly too full.
    if (packing.left.length > 0 || !packing.bins.every((bin) => fitsIn(bin.load, bin.type))) return;
    const cost = packingCost(packing);
    if (this.outcome.packing && cost > packingCost(this.outcome.packing) - 1e-9) return;
    this.outcome.packing = packing;
    this.progress.recordImprovement(cost, this.outcome.bound);
  }

  private isProved(gap: number): boolean {
    const { packing, bound } = this.outcome;
    if (!packing) return false;
    const cost = packingCost(packing);
    return cost - bound <= Math.max(1e-6 * Math.max(1, cost), gap * cost);
  }

  private remainingSeconds(options: Options): number {
    return Math.max(0, options.duration - this.progress.elapsedSeconds());
  }

  private async findBound(problem: Problem, options: Options): Promise<void> {
    const seconds = Math.max(0.05, this.remainingSeconds(options) * 0.3);
    const result = await solveMip(buildBoundModel(problem), { seconds, gap: 0, signal: this.signal });
    if (result.status === 'infeasible') {
      this.outcome.status = 'infeasible';
      this.outcome.reasons = ['all bins together do not hold all items, by their sizes and numbers alone'];
    }
    this.outcome.bound = result.status === 'optimal' ? Math.min(result.bound, result.value) : result.bound;
  }

  /**
   * Runs the heuristic from a packing until it is stale, proved optimal or out of its share of the remaining time; returns
   * the current packing. It yields to the event loop from time to time, because signals arrive only there.
   */
  private async improve(
    problem: Problem,
    from: Packing,
    options: Options,
    { staleMaximum, share }: { staleMaximum: number; share: number },
  ): Promise<Packing> {
    const { outcome } = this;
    const random = seededRandom(options.seed + outcome.rounds);
    const end = this.progress.elapsedSeconds() + this.remainingSeconds(options) * share;
    let current = from;
    let stale = 0;
    while (stale < staleMaximum && !this.isProved(options.gap)) {
      if (outcome.rounds % 50 === 0) {
        await nextTurn();
        if (this.signal.aborted || this.progress.elapsedSeconds() >= end) break;
      }
      outcome.rounds += 1;
      stale += 1;
      const next = ruinAndRecreate(problem, current, random);
      if (next.left.length < current.left.length || packingCost(next) < packingCost(current) - 1e-9)
        stale = 0;
      current = next;
      this.offer(current);
    }
    return current;
  }

  private isExactAffordable(problem: Problem, options: Options): boolean {
    const slots = [...countSlots(problem, this.outcome.packing).values()].reduce(
      (sum, count) => sum + count,
      0,
    );
    return slots * (problem.items.length + 1) <= options['exact.columns'];
  }

  private async solveExactly(problem: Problem, options: Options): Promise<void> {
    const { outcome } = this;
    if (this.isProved(options.gap) || this.signal.aborted) return;
    const model = buildModel(problem, outcome.packing, Math.max(0, outcome.bound));
    const start = outcome.packing && model.toColumns(outcome.packing);
    const result = await solveMip(model.mip, {
      seconds: Math.max(0.05, this.remainingSeconds(options)),
      gap: options.gap,
      signal: this.signal,
      ...(start ? { start } : {}),
      onImprovement: ({ columns: values, bound }) => {
        outcome.bound = Math.max(outcome.bound, bound);
        this.offer(model.toPacking(values));
      },
    });
    outcome.nodes = result.nodes;
    if (result.columns) this.offer(model.toPacking(result.columns));
    outcome.bound = Math.max(outcome.bound, result.bound);
    if (result.status === 'infeasible' && !outcome.packing) {
      outcome.status = 'infeasible';
      outcome.reasons = ['the items do not fit into the bins that there are, whatever goes together'];
    }
  }
}

function describeBins(packing: Packing | null) {
  return (packing?.bins ?? []).map(({ type, items, load }) => ({
    type: type.id,
    cost: type.cost,
    load: roundValue(load),
    items: items.map((item) => item.id),
  }));
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), optionDefinitions);
  const problem = readProblem(parseJson(await text(process.stdin)));
  const interruption = new AbortController();
  // The listeners stay: a signal often arrives twice, at the process and at its group, and the second must not kill.
  process.on('SIGTERM', () => interruption.abort());
  process.on('SIGINT', () => interruption.abort());
  const progress = new Progress();
  const outcome = await new Search(progress, interruption.signal).run(problem, options);

  const { status, packing, bound } = outcome;
  const custom: CustomStatistics = { status, rounds: outcome.rounds, nodes: outcome.nodes };
  if (packing) {
    const capacity = packing.bins.reduce((sum, bin) => sum + bin.type.capacity, 0);
    const load = packing.bins.reduce((sum, bin) => sum + bin.load, 0);
    progress.printSeries(packingCost(packing), bound);
    Object.assign(custom, {
      bins: packing.bins.length,
      fill: capacity > 0 ? roundValue(load / capacity) : 1,
      ...(Number.isFinite(bound) ? { bound: roundValue(Math.min(bound, packingCost(packing))) } : {}),
    });
  }
  console.error(`${progress.elapsedSeconds().toFixed(2).padStart(8)} s  ${status}`);
  const output = {
    options,
    solution: { status, reasons: outcome.reasons, bins: describeBins(packing) },
    statistics: progress.buildStatistics(
      packing ? packingCost(packing) : null,
      custom,
      outcome.rounds + outcome.nodes,
    ),
  };
  process.stdout.write(`${JSON.stringify(output)}\n`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
