/** Points of several series, as they are stored and streamed. */
import {
  SERIES_MAX,
  SERIES_PHASES_MAX,
  SERIES_POINTS_MAX,
  SERIES_SOLVES_MAX,
  SERIES_TOTAL_POINTS_MAX,
} from '@switchyard/contract/limits.ts';
import { RunSeries, RunSolve, SolverPhase } from '@switchyard/contract/runs/run-series.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type, { type Static } from 'typebox';
import { downsample, type Point } from './downsample.ts';

const { solve, ...SeriesFields } = RunSeries.properties;

/** Series that begin or continue at some time. Rows of earlier releases have no solves. */
const SeriesPart = Type.Object({
  series: Type.Array(
    Type.Object({
      ...SeriesFields,
      solve: Type.Optional(solve),
      points: Type.Array(Type.Unsafe<Point>(Type.Tuple([Type.Number(), Type.Number()]))),
    }),
  ),
  phases: Type.Array(SolverPhase),
  solves: Type.Optional(Type.Array(RunSolve)),
});
export type StoredPart = Static<typeof SeriesPart>;

/** A series, without its points. */
export type SeriesKey = Omit<RunSeries, 'points'>;
type CollectedSeries = SeriesKey & { points: Point[] };

/** Points of several series, with all that is known of the solves. */
export interface SeriesPart {
  series: CollectedSeries[];
  phases: SolverPhase[];
  solves: RunSolve[];
}

/** Points of a run's series that a write adds, and points that replace those before. */
export interface SeriesWrite {
  /** All points up to the row with this number, in place of its rows up to there; null to keep them. */
  replacement: { seq: number; part: StoredPart } | null;
  /** The points after those; null without any. */
  addition: { seq: number; part: StoredPart } | null;
}

/** Parses a stored part. */
export const parsePart = createJsonParser(SeriesPart);

/** Collects the points of a run by series. Its memory has a bound, whatever the number of points. */
export class SeriesCollection {
  readonly #series = new Map<string, CollectedSeries>();
  readonly #phases: SolverPhase[] = [];
  readonly #solves = new Map<number, RunSolve>();
  readonly #pointsMax: number;

  /** A series has at most twice as many points in memory, and `pointsMax` in the part. */
  constructor(pointsMax = SERIES_POINTS_MAX) {
    this.#pointsMax = pointsMax;
  }

  get isEmpty(): boolean {
    return this.#series.size === 0 && this.#phases.length === 0 && this.#solves.size === 0;
  }

  /** Points of a series in a part: fewer where there are very many series. */
  get #limit(): number {
    return Math.min(this.#pointsMax, Math.floor(SERIES_TOTAL_POINTS_MAX / Math.max(1, this.#series.size)));
  }

  /**
   * Adds a point at the end of a series. Ignores a value that is no finite number, and series beyond the maximum. Points
   * before it whose x is larger move to its x: their lines had no time and arrived late.
   */
  addPoint({ source, name, solve }: SeriesKey, [x, y]: Point): void {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const key = `${source} ${solve ?? -1} ${name}`;
    if (!this.#series.has(key) && !this.#makeRoom(solve)) return;
    const found = this.#series.get(key) ?? { name, source, solve, points: [] };
    this.#series.set(key, found);
    for (let index = found.points.length - 1; index >= 0; index -= 1) {
      const before = found.points[index];
      if (!before || before[0] <= x) break;
      found.points[index] = [x, before[1]];
    }
    found.points.push([x, y]);
    if (found.points.length > 2 * this.#limit) found.points = downsample(found.points, this.#limit);
  }

  /** Returns true if there is room for another series. The series of the earliest solve make room for those of a later one. */
  #makeRoom(solve: number | null): boolean {
    if (this.#series.size < SERIES_MAX) return true;
    if (solve === null) return false;
    const numbers = [...this.#series.values()].flatMap((one) => one.solve ?? []);
    const earliest = Math.min(...numbers);
    if (earliest >= solve) return false;
    for (const [key, one] of this.#series) if (one.solve === earliest) this.#series.delete(key);
    return true;
  }

  /** Adds a phase that follows those before it. Later phases of a log with very many solves are omitted. */
  addPhase(phase: SolverPhase): void {
    if (this.#phases.length < SERIES_PHASES_MAX) this.#phases.push(phase);
  }

  /** Adds a solve, or replaces what was known of it. */
  setSolve(solve: RunSolve): void {
    if (this.#solves.size < SERIES_SOLVES_MAX || this.#solves.has(solve.solve))
      this.#solves.set(solve.solve, solve);
  }

  /** Moves all points and phases of the solve to an earlier time, by some seconds. */
  moveSolve(solve: number, seconds: number): void {
    const move = (x: number): number => Math.max(0, roundToMs(x - seconds));
    for (const one of this.#series.values())
      if (one.solve === solve) one.points = one.points.map(([x, y]) => [move(x), y]);
    for (const [index, phase] of this.#phases.entries())
      if (phase.solve === solve) this.#phases[index] = { ...phase, x: move(phase.x) };
  }

  /** Adds everything in the part. */
  addPart({ series, phases, solves = [] }: StoredPart): void {
    for (const { source, name, solve = null, points } of series)
      for (const point of points) this.addPoint({ source, name, solve }, point);
    for (const phase of phases) this.addPhase(phase);
    for (const one of solves) this.setSolve(one);
  }

  /** Returns what was added, with at most `pointsMax` points of each series, by source, solve and name. */
  toPart(): SeriesPart {
    const series = [...this.#series.values()]
      .sort(compareSeries)
      .map((one) => ({ ...one, points: downsample(one.points, this.#limit) }));
    const solves = [...this.#solves.values()].sort((one, other) => one.solve - other.solve);
    return { series, phases: [...this.#phases], solves };
  }
}

function compareSeries(one: SeriesKey, other: SeriesKey): number {
  if (one.source !== other.source) return one.source < other.source ? -1 : 1;
  const difference = (one.solve ?? -1) - (other.solve ?? -1);
  return difference !== 0 ? difference : one.name < other.name ? -1 : 1;
}

/** Seconds with the digits of a millisecond. */
export const roundToMs = (seconds: number): number => Math.round(seconds * 1000) / 1000;
