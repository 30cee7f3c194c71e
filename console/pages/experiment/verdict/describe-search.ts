/** The verdict of a bisect experiment. */
import type { BisectExperiment } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Verdict } from './describe-verdict.ts';

const KINDS: Partial<Record<BisectExperiment['verdict'], Verdict['kind']>> = {
  found: 'better',
  not_distinguishable: 'equivalent',
  failed: 'worse',
};

/** Returns the verdict: which version made the indicator worse, as far as known. */
export function describeSearch({
  verdict,
  reason,
  runs_needed: more,
}: Pick<BisectExperiment, 'verdict' | 'reason' | 'runs_needed'>): Verdict {
  const word = verdict.replaceAll('_', ' ');
  return {
    ...{ kind: KINDS[verdict] ?? 'open', word },
    claim: verdict === 'running' ? 'So far:' : `${word.charAt(0).toUpperCase()}${word.slice(1)}.`,
    rest: reason || 'no version is tested.',
    follows: more === null ? [] : [`The search needs about ${formatNumber(more)} more runs.`],
  };
}
