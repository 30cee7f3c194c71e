/** Points of several series, as they are stored and streamed. */
import { SERIES_MAX, SERIES_PHASES_MAX, SERIES_POINTS_MAX } from '@switchyard/contract/limits.ts';
import { RunSeries, SolverPhase } from '@switchyard/contract/runs/run-series.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type, { type Static } from 'typebox';
import { downsample, type Point } from './downsample.ts';

/** Series that begin or continue at some time. */
const SeriesPart = Type.Object({
  series: Type.Array(
    Type.Object({
      ...RunSeries.properties,
      points: Type.Array(Type.Unsafe<Point>(Type.Tuple([Type.Number(), Type.Number()]))),
    }),
  ),
  phases: Type.Array(SolverPhase),
});
export type SeriesPart = Static<typeof SeriesPart>;

/** Points of a run's series that a write adds, and points that replace those before. */
export interface SeriesWrite {
  /** All points up to the row with this number, in place of its rows up to there; null to keep them. */
  replacement: { seq: number; part: SeriesPart } | null;
  /** The points after those; null without any. */
  addition: { seq: number; part: SeriesPart } | null;
}

/** Parses a stored part. */
export const parsePart = createJsonParser(SeriesPart);

/** Collects the points of a run by series. Its memory has a bound, whatever the number of points. */
export class SeriesCollection {
  readonly #series = new Map<string, SeriesPart['series'][number]>();
  readonly #phases: SolverPhase[] = [];
  readonly #pointsMax: number;

  /** A series has at most twice as many points in memory, and `pointsMax` in the part. */
  constructor(pointsMax = SERIES_POINTS_MAX) {
    this.#pointsMax = pointsMax;
  }

  get isEmpty(): boolean {
    return this.#series.size === 0 && this.#phases.length === 0;
  }

  /** Adds a point at the end of a series. Ignores a value that is no finite number, and series beyond the maximum. */
  addPoint(source: RunSeries['source'], name: string, [x, y]: Point): void {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const key = `${source} ${name}`;
    const found = this.#series.get(key) ?? { name, source, points: [] };
    if (this.#series.size >= SERIES_MAX && !this.#series.has(key)) return;
    this.#series.set(key, found);
    found.points.push([x, y]);
    if (found.points.length > 2 * this.#pointsMax) found.points = downsample(found.points, this.#pointsMax);
  }

  /** Adds a phase that follows those before it. Later phases of a log with very many solves are omitted. */
  addPhase(phase: SolverPhase): void {
    if (this.#phases.length < SERIES_PHASES_MAX) this.#phases.push(phase);
  }

  /** Adds everything in the part. */
  addPart({ series, phases }: SeriesPart): void {
    for (const { source, name, points } of series)
      for (const point of points) this.addPoint(source, name, point);
    for (const phase of phases) this.addPhase(phase);
  }

  /** Returns what was added, with at most `pointsMax` points of each series, by source and name. */
  toPart(): SeriesPart {
    const series = [...this.#series.entries()]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { name, source, points }]) => ({
        name,
        source,
        points: downsample(points, this.#pointsMax),
      }));
    return { series, phases: [...this.#phases] };
  }
}
