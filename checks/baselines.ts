/** The number of violations that each file may still have, for each law: `checks/baselines/<law>.json`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { ROOT } from './source-files.ts';
import type { Law, Violation } from './violation.ts';

/** Violations by path. A path that is missing has none. */
export type Baseline = Record<string, number>;

export function countByFile(violations: readonly Violation[]): Baseline {
  const counts: Baseline = {};
  for (const { path } of violations) counts[path] = (counts[path] ?? 0) + 1;
  return counts;
}

export interface BaselineChange {
  path: string;
  /** How many the baseline allows. */
  allowed: number;
  /** How many there are now. */
  count: number;
}

/** The files whose number of violations differs from the baseline, in the order of their paths. */
export function compareWithBaseline(counts: Baseline, baseline: Baseline): BaselineChange[] {
  return [...new Set([...Object.keys(counts), ...Object.keys(baseline)])]
    .sort()
    .map((path) => ({ path, allowed: baseline[path] ?? 0, count: counts[path] ?? 0 }))
    .filter(({ allowed, count }) => allowed !== count);
}

function packageName(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : 'root';
}

/**
 * The files with more violations than allowed, in packages that have more than allowed altogether. So a violation may move
 * with its function from file to file of a package, but none may be added.
 */
export function findExceeded(counts: Baseline, baseline: Baseline): BaselineChange[] {
  const changes = compareWithBaseline(counts, baseline);
  const growth = new Map<string, number>();
  for (const { path, allowed, count } of changes)
    growth.set(packageName(path), (growth.get(packageName(path)) ?? 0) + count - allowed);
  return changes.filter(
    ({ path, allowed, count }) => count > allowed && (growth.get(packageName(path)) ?? 0) > 0,
  );
}

/**
 * The baseline after an update. A count only falls, so that a violation cannot be added by running the update; a new path
 * has none, unless `mayRaise`.
 */
export function updateBaseline(counts: Baseline, baseline: Baseline, { mayRaise = false } = {}): Baseline {
  const entries = Object.keys(counts)
    .sort()
    .map((path): [string, number] => {
      const count = counts[path] ?? 0;
      return [path, mayRaise ? count : Math.min(count, baseline[path] ?? 0)];
    });
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}

function baselinePath(law: Law): string {
  return `${ROOT}/checks/baselines/${law.name}.json`;
}

/** A law without a file has an empty baseline: nothing is allowed. */
export function readBaseline(law: Law): Baseline {
  const path = baselinePath(law);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Baseline) : {};
}

export function writeBaseline(law: Law, baseline: Baseline): void {
  writeFileSync(baselinePath(law), `${JSON.stringify(baseline, null, 2)}\n`);
}
