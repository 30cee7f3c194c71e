/**
 * Reads what the runs of an experiment reported, and keeps of it what statistics can hold in memory: 10,000 runs may report
 * 15 million numbers, which as objects are gigabytes. When there are too many, indicators that the fewest runs reported are
 * let go of, never those that are asked for by name.
 */

import { compareText } from '../statistics/observations.ts';
import { parseObservation, type RawObservation } from './batch-analysis.ts';
import type { UnitObservation } from './online-test-analysis.ts';

/** A number with what stands around it takes about a hundred bytes. */
const VALUES_MAX = 2_000_000;

export class RunReader {
  readonly runs: UnitObservation[] = [];
  /** Whether anything was let go of. */
  isTruncated = false;
  readonly #requestedNames: ReadonlySet<string>;
  readonly #valuesMax: number;
  /** How often each was reported, by its name, which all runs share: parsed ones would be a text for every run. */
  readonly #reports = new Map<string, { name: string; count: number }>();
  #valueCount = 0;

  constructor(asked: Iterable<string>, most = VALUES_MAX) {
    this.#requestedNames = new Set(['result.value', ...asked]);
    this.#valuesMax = most;
  }

  add(unread: RawObservation): void {
    const run = parseObservation(unread);
    const indicators = run.indicators.flatMap(({ name, value }) => {
      const known = this.#findReport(name);
      if (!known) return [];
      known.count += 1;
      return [{ name: known.name, value }];
    });
    this.#valueCount += indicators.length;
    this.runs.push({ ...run, indicators });
    if (this.#valueCount > this.#valuesMax) this.#dropRarestIndicators();
  }

  /** Undefined for what is not taken any more. */
  #findReport(name: string): { name: string; count: number } | undefined {
    const known = this.#reports.get(name);
    if (known || (this.isTruncated && !this.#requestedNames.has(name))) return known;
    const report = { name, count: 0 };
    this.#reports.set(name, report);
    return report;
  }

  /** Down to half, so that it is not done again with the next run. */
  #dropRarestIndicators(): void {
    this.isTruncated = true;
    const rest = [...this.#reports.values()].filter(({ name }) => !this.#requestedNames.has(name));
    let left = this.#valuesMax / 2 - (this.#valueCount - rest.reduce((sum, { count }) => sum + count, 0));
    for (const { name, count } of rest.sort((a, b) => b.count - a.count || compareText(a.name, b.name))) {
      left -= count;
      if (left < 0) this.#reports.delete(name);
    }
    this.#valueCount = 0;
    for (const run of this.runs) {
      run.indicators = run.indicators.filter(({ name }) => this.#reports.has(name));
      this.#valueCount += run.indicators.length;
    }
  }
}
