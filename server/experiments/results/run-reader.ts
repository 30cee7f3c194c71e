/**
 * Reads the indicators of an experiment's runs, within a limit on memory: 10,000 runs can report 15 million numbers, which
 * are gigabytes of objects. Above the limit, drops the indicators that the fewest runs reported, but never requested ones.
 */

import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { parseIndicators } from '../../runs/run-columns.ts';
import { compareText, type Incumbent, type Observation } from '../statistics/observations.ts';
import type { UnitObservation } from './online-test-analysis.ts';

/** An observation whose indicators are the stored JSON; the worker thread parses it. */
export interface RawObservation extends Omit<Observation, 'indicators' | 'run_id'> {
  run_id?: RunId;
  indicators: string;
  /** The statistics block of a run with time series. */
  series?: string;
  /** In a switchback test, the index of the unit of the plan, the time in it, and a refusal by the candidate. */
  unit?: number;
  minutes_into_unit?: number;
  candidate_refused?: boolean;
  /** Stands for so many deleted runs of a unit, whose status is `deleted`. */
  deleted_runs?: number;
}

/** Parses the indicators and the time series of an observation. */
export function parseObservation({
  indicators,
  series,
  ...run
}: RawObservation): Observation & Omit<RawObservation, keyof Observation | 'series'> {
  const incumbents = series === undefined ? null : parseIncumbents(series);
  return {
    ...run,
    indicators: parseIndicators({ id: run.run_id ?? 'without an id', indicators }),
    ...(incumbents === null ? {} : { incumbents }),
  };
}

/** A value with its object takes about 100 bytes, so this is about 200 MB. */
const VALUES_MAX = 2_000_000;

/** Collects the runs of an experiment with their indicators. */
export class RunReader {
  readonly runs: UnitObservation[] = [];
  /** true: the reader has dropped indicators. */
  isTruncated = false;
  readonly #requestedNames: ReadonlySet<string>;
  readonly #valuesMax: number;
  /** The number of values of each indicator. All runs share the string of its name; parsing creates one for each run. */
  readonly #reports = new Map<string, { name: string; count: number }>();
  #valueCount = 0;

  /** Creates a reader that always keeps the indicators with these names, and `result.value`. */
  constructor(requestedNames: Iterable<string>, valuesMax = VALUES_MAX) {
    this.#requestedNames = new Set(['result.value', ...requestedNames]);
    this.#valuesMax = valuesMax;
  }

  /** Parses the run and adds it to `runs`. */
  add(observation: RawObservation): void {
    const run = parseObservation(observation);
    const indicators = run.indicators.flatMap(({ name, value }) => {
      const report = this.#findOrAddReport(name);
      if (!report) return [];
      report.count += 1;
      return [{ name: report.name, value }];
    });
    this.#valueCount += indicators.length;
    this.runs.push({ ...run, indicators });
    if (this.#valueCount > this.#valuesMax) this.#dropRarestIndicators();
  }

  /** Returns undefined for an indicator to drop: after a truncation, only requested names are added. */
  #findOrAddReport(name: string): { name: string; count: number } | undefined {
    const known = this.#reports.get(name);
    if (known || (this.isTruncated && !this.#requestedNames.has(name))) return known;
    const report = { name, count: 0 };
    this.#reports.set(name, report);
    return report;
  }

  /** Drops indicators down to half of the limit, so that the next run does not exceed the limit again. */
  #dropRarestIndicators(): void {
    this.isTruncated = true;
    const droppable = [...this.#reports.values()].filter(({ name }) => !this.#requestedNames.has(name));
    const requestedCount = this.#valueCount - droppable.reduce((sum, { count }) => sum + count, 0);
    let remaining = this.#valuesMax / 2 - requestedCount;
    for (const { name, count } of droppable.sort(
      (a, b) => b.count - a.count || compareText(a.name, b.name),
    )) {
      remaining -= count;
      if (remaining < 0) this.#reports.delete(name);
    }
    this.#valueCount = 0;
    for (const run of this.runs) {
      run.indicators = run.indicators.filter(({ name }) => this.#reports.has(name));
      this.#valueCount += run.indicators.length;
    }
  }
}

/** Ten thousand runs with so many points take 40 MB. */
const INCUMBENTS_MAX = 100;

const Block = Type.Object({
  series_data: Type.Object({
    value: Type.Object({ data_points: Type.Array(Type.Object({ x: Type.Unknown(), y: Type.Unknown() })) }),
  }),
});

/** Returns at most `INCUMBENTS_MAX` incumbents in the order of time, with the first and the last; null without a usable point. */
export function parseIncumbents(statistics: string): Incumbent[] | null {
  const block: unknown = JSON.parse(statistics);
  if (!Value.Check(Block, block)) return null;
  const incumbents = block.series_data.value.data_points.flatMap(({ x, y }) =>
    isFiniteNumber(x) && x >= 0 && isFiniteNumber(y) ? [{ seconds: x, value: y }] : [],
  );
  if (incumbents.length === 0) return null;
  incumbents.sort((a, b) => a.seconds - b.seconds);
  const stride = (incumbents.length - 1) / (INCUMBENTS_MAX - 1);
  return incumbents.length <= INCUMBENTS_MAX
    ? incumbents
    : Array.from({ length: INCUMBENTS_MAX }, (_, index) => incumbents[Math.round(index * stride)]).filter(
        (incumbent) => incumbent !== undefined,
      );
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
