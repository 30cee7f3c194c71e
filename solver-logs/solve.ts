/**
 * One solve of a log: what its lines say, made consistent. A solver prints rounded numbers, repeats old ones, and reports
 * values of models without a solution. The rules here hold for every solver, so that its description need not repeat them.
 */
import {
  collectFacts,
  createMemory,
  type Facts,
  type LogFormat,
  type Progress,
  readLine,
  type SolvePhase,
  type SolveStatus,
} from './solvers/format.ts';

/**
 * Tables show five digits at least. A value of the final report that is worse by less than this share is the same value,
 * exactly.
 */
const ROUNDING = 1e-4;
/** No solver has a longer one. An app can print any text. */
const VERSION_CHARS_MAX = 64;

/** What the log says about a solve so far. Null: it does not say. */
export interface SolveSummary {
  solver: string;
  version: string | null;
  status: SolveStatus | null;
  /** Objective of the best solution; null for a model that has none. */
  objective: number | null;
  bound: number | null;
  /** Relative gap as a ratio. */
  gap: number | null;
  nodes: number | null;
  /** The solver's own clock at its last line. */
  seconds: number | null;
  threads: number | null;
  seed: number | null;
}

/** The facts of a line that a chart shows. */
export interface SolveStep {
  series: Progress;
  /** False for a line that adds nothing to a chart. */
  isNews: boolean;
  /** The phase that begins with the line; undefined if it does not change. */
  phase?: SolvePhase;
  /** The solver's own clock: seconds since the start of the solve. Undefined where neither this line nor one before tells. */
  seconds?: number;
}

const WITHOUT_SOLUTION: ReadonlySet<SolveStatus> = new Set([
  'infeasible',
  'unbounded',
  'infeasible_or_unbounded',
]);

/** Reads the lines of one solve. */
export class Solve {
  readonly format: LogFormat;
  readonly #memory = createMemory();
  readonly #facts: Facts;
  /** True once the clock is that of the end, which holds for the lines after it too. */
  #isClockFinal = false;
  /** True while the bound is the proven optimum, and no line has printed a bound. */
  #isBoundAssumed = false;

  /** `version` is that of an earlier solve in the log: solvers print it once. */
  constructor(format: LogFormat, version: string | undefined) {
    this.format = format;
    this.#facts = collectFacts({ version, direction: format.direction });
  }

  get version(): string | undefined {
    return this.#facts.version;
  }

  get isFinished(): boolean {
    return this.#facts.phase === 'finished';
  }

  /** True for a solve of which only the presolve was printed. */
  get isOnlyPresolved(): boolean {
    const { phase, status, objective, bound, nodes } = this.#facts;
    return phase === 'presolve' && [status, objective, bound, nodes].every((fact) => fact === undefined);
  }

  get summary(): SolveSummary {
    const { version, status, objective, bound, gap, nodes, seconds, threads, seed } = this.#facts;
    return {
      solver: this.format.solver,
      version: version ?? null,
      status: status ?? null,
      objective: objective ?? null,
      bound: bound ?? null,
      gap: gap ?? null,
      nodes: nodes ?? null,
      seconds: seconds ?? null,
      threads: threads ?? null,
      seed: seed ?? null,
    };
  }

  /** Returns what the line adds; undefined if it is no line of this solver. */
  read(line: string): SolveStep | undefined {
    const facts = readLine(this.format.rules, line, this.#memory);
    if (!facts) return undefined;
    const { version, status, threads, seed, direction } = facts;
    const known = {
      version: (version?.length ?? 0) <= VERSION_CHARS_MAX ? version : undefined,
      threads: Number.isSafeInteger(threads) ? threads : undefined,
    };
    Object.assign(this.#facts, collectFacts({ ...known, seed, direction }));
    if (status !== undefined) this.#setStatus(status);
    const seconds = this.#setClock(facts);
    const series = this.#accept(facts);
    const phase = this.#setPhase(facts.phase);
    const isNews = Object.keys(series).length > 0 || phase !== undefined || status !== undefined;
    return { series, isNews, ...(phase && { phase }), ...(seconds !== undefined && { seconds }) };
  }

  #setStatus(status: SolveStatus): void {
    // A time limit is more than the word "feasible" of the line after it.
    if (status === 'feasible' && this.#facts.status !== undefined) return;
    this.#facts.status =
      status === 'feasible' && this.#facts.objective === undefined && !this.format.isHeuristic
        ? 'interrupted'
        : status;
    if (!WITHOUT_SOLUTION.has(status)) return;
    delete this.#facts.objective;
    delete this.#facts.bound;
    delete this.#facts.gap;
  }

  /** Clocks never go back: rows round more than summaries, and the summary that ends the search is the last word. */
  #setClock({ seconds, phase }: Facts): number | undefined {
    if (seconds !== undefined && seconds >= (this.#facts.seconds ?? 0)) {
      this.#facts.seconds = seconds;
      if (phase === 'finished') this.#isClockFinal = true;
    }
    return seconds !== undefined || this.#isClockFinal ? this.#facts.seconds : undefined;
  }

  #setPhase(phase: SolvePhase | undefined): SolvePhase | undefined {
    // After the end a log has its report, and no second presolve.
    if (phase === undefined || phase === this.#facts.phase || this.isFinished) return undefined;
    this.#facts.phase = phase;
    return phase;
  }

  /** Returns the numbers that are news and agree with those before, and stores them. */
  #accept(facts: Facts): Progress {
    const { status } = this.#facts;
    if (status !== undefined && WITHOUT_SOLUTION.has(status))
      return facts.nodes === undefined ? {} : this.#store({ nodes: facts.nodes });
    const objective = this.#acceptObjective(facts.objective);
    const bound = this.#acceptBound(facts.bound, objective);
    const isWhole = objective === facts.objective && (this.#isBoundAssumed || bound === facts.bound);
    const gap = (isWhole ? facts.gap : undefined) ?? this.#computeGap(objective, bound);
    // Rows have the number of a node, and the report counts the nodes.
    const isFewer = facts.nodes !== undefined && facts.nodes < (this.#facts.nodes ?? 0);
    const nodes = isFewer && !this.isFinished ? undefined : facts.nodes;
    return this.#store(collectFacts({ objective, bound, gap, nodes }));
  }

  #store(progress: Progress): Progress {
    Object.assign(this.#facts, progress);
    return progress;
  }

  #acceptObjective(value: number | undefined): number | undefined {
    const { objective: before } = this.#facts;
    if (value === undefined || before === undefined) return value;
    this.#learnDirection(value - before);
    const { direction } = this.#facts;
    if (direction === undefined || isSame(value, before)) return value;
    return (value - before) * direction > 0 ? value : undefined;
  }

  #acceptBound(value: number | undefined, newObjective: number | undefined): number | undefined {
    const objective = newObjective ?? this.#facts.objective;
    const before = this.#isBoundAssumed ? undefined : this.#facts.bound;
    if (value === undefined) {
      // A proven optimum is its own bound until the log prints one.
      this.#isBoundAssumed = this.#facts.status === 'optimal' && before === undefined;
      return this.#isBoundAssumed ? objective : undefined;
    }
    this.#isBoundAssumed = false;
    if (objective !== undefined) this.#learnDirection(value - objective);
    const { direction } = this.#facts;
    if (direction === undefined) return value;
    // A bound beyond the objective by rounding is the objective.
    if (objective !== undefined && (value - objective) * direction < 0)
      return isSame(value, objective) ? objective : undefined;
    if (before === undefined || isSame(value, before)) return value;
    return (value - before) * direction < 0 ? value : undefined;
  }

  /** Better objectives, and bounds seen from an objective, lie in the direction of the model. */
  #learnDirection(difference: number): void {
    const { direction, objective = 0 } = this.#facts;
    if (direction !== undefined || Math.abs(difference) <= ROUNDING * Math.max(1, Math.abs(objective)))
      return;
    this.#facts.direction = difference > 0 ? 1 : -1;
  }

  /** Returns |objective − bound| / |objective| where a line has news of one and the log prints no gap. */
  #computeGap(newObjective: number | undefined, newBound: number | undefined): number | undefined {
    if (newObjective === undefined && newBound === undefined) return undefined;
    const objective = newObjective ?? this.#facts.objective;
    const bound = newBound ?? this.#facts.bound;
    if (objective === undefined || bound === undefined) return undefined;
    if (objective === bound) return 0;
    return objective === 0 ? undefined : Math.abs((objective - bound) / objective);
  }
}

function isSame(value: number, before: number): boolean {
  return Math.abs(value - before) <= ROUNDING * Math.abs(before);
}
