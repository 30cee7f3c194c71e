/** The number of allowed violations in each file, for each law: `checks/baselines/<law>.json`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { ROOT } from './source-files.ts';
import type { Law, Violation } from './violation.ts';

/** Number of violations by path. A missing path has none. */
export type Baseline = Record<string, number>;

/** Returns the number of violations in each file. */
export function countByFile(violations: readonly Violation[]): Baseline {
  const counts: Baseline = {};
  for (const { path } of violations) counts[path] = (counts[path] ?? 0) + 1;
  return counts;
}

/** A file whose number of violations differs from its baseline. */
export interface BaselineChange {
  path: string;
  /** Number of violations that the baseline allows. */
  allowed: number;
  /** Number of violations in the source. */
  count: number;
}

/** Returns the files whose number of violations differs from the baseline, sorted by path. */
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
 * Returns the files with more violations than allowed, in packages whose total exceeds the total allowed. A violation
 * may therefore move with its function between files of a package, but a change cannot add one.
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
 * Returns the baseline after an update. A count only falls, so an update cannot add a violation; a new path has none,
 * unless `mayRaise`.
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

function baselinePath(law: Pick<Law, 'name'>): string {
  return `${ROOT}/checks/baselines/${law.name}.json`;
}

/** Returns the baseline of a law; a law without a file has an empty one. */
export function readBaseline(law: Pick<Law, 'name'>): Baseline {
  const path = baselinePath(law);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** Writes the baseline of a law to its file. */
export function writeBaseline(law: Pick<Law, 'name'>, baseline: Baseline): void {
  writeFileSync(baselinePath(law), `${JSON.stringify(baseline, null, 2)}\n`);
}
