/** The verdict of an experiment of any type in sentences. Their word is that of the list, so that both agree. */
import type { BisectExperiment } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import type {
  ExperimentAddress,
  ExperimentBody,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { rateSearch } from '@switchyard/contract/experiments/presentation/rate-experiment.ts';
import { capitalise, curlQuotes } from '@switchyard/contract/presentation/format-count.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { viewExperiment } from '@switchyard/contract/views/experiment-view.ts';
import { describeAcceptance } from './describe-acceptance.ts';
import { describeVerdict, type Verdict } from './describe-verdict.ts';

/** Returns the verdict; null before anything can be compared. */
export function describeExperiment(
  address: ExperimentAddress,
  body: ExperimentBody,
  nameIndicator: (indicator: string) => string = String,
): Verdict | null {
  if ('metrics' in body) return describeAcceptance(body, nameIndicator);
  if ('posterior' in body) return describeSearch(body);
  const { compared, unit } = viewExperiment(address, body);
  const isRunning = body.status === 'started';
  return describeVerdict({ ...{ decision: body.decision, compared, isRunning, unit, nameIndicator } });
}

const KINDS: Partial<Record<BisectExperiment['verdict'], Verdict['kind']>> = {
  found: 'better',
  not_distinguishable: 'equivalent',
  failed: 'worse',
};

/** Returns the verdict: which version made the indicator worse, as far as known. */
function describeSearch(search: Pick<BisectExperiment, 'verdict' | 'reason' | 'runs_needed'>): Verdict {
  const { verdict, reason, runs_needed: more } = search;
  const word = rateSearch(search);
  return {
    ...{ kind: KINDS[verdict] ?? 'open', word },
    claim: verdict === 'running' ? 'So far:' : `${capitalise(word)}.`,
    rest: curlQuotes(reason) || 'no version is tested.',
    follows: more === null ? [] : [`The search needs about ${formatNumber(more)} more runs.`],
  };
}
