/** Reads the comparisons of an experiment: those that decide, and those of an acceptance test. */
import type { AcceptanceTest } from '../acceptance-tests.ts';
import type { ComparedGroups } from '../experiment-results.ts';

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
