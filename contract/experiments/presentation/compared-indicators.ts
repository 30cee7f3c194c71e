/** Reads the comparisons of an experiment: their verdict together, and those of an acceptance test. */
import type { AcceptanceTest } from '../acceptance-tests.ts';
import type { ComparedGroups } from '../experiment-results.ts';

/** A comparison of the API, as far as the list reads it. */
export interface ListedComparison {
  role: string;
  verdict: string;
}

/** Returns the verdict on the primary indicators, or on the first one without any; null when they differ. */
export function summarizeVerdicts(comparisons: readonly ListedComparison[]): string | null {
  const primary = comparisons.filter(({ role }) => role === 'primary');
  const words = new Set(
    (primary.length > 0 ? primary : comparisons.slice(0, 1)).map(({ verdict }) => verdict),
  );
  if (words.size > 1) return 'mixed';
  return [...words][0] ?? null;
}

/** Returns the comparisons that a race has not dropped: those decide which configuration won. All without any. */
export function listRemaining<Compared extends Pick<ComparedGroups, 'racing'>>(
  compared: readonly Compared[],
) {
  const remaining = compared.filter(({ racing }) => racing?.status !== 'dropped');
  return remaining.length > 0 ? remaining : compared;
}

/** Returns the comparisons of the rules as one group; several rules may have the same field. */
export function collectComparison({ results }: AcceptanceTest): ComparedGroups | undefined {
  const rules = results?.metric_results ?? [];
  const [first] = rules;
  if (!first) return undefined;
  const { control, candidate } = first.statistics;
  const indicators = new Map(
    rules
      .filter(({ comparison }) => typeof comparison.indicator === 'string')
      .map(({ comparison }) => [comparison.indicator, comparison]),
  );
  return { control, candidate, indicators: [...indicators.values()] };
}
