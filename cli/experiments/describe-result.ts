/** The sentences about a result: the decision, and the verdict of each candidate. */

import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import type { Question } from '@switchyard/contract/experiments/comparisons/questions.ts';
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import {
  formatDecision,
  formatOtherLooks,
} from '@switchyard/contract/experiments/presentation/decide-release.ts';
import { formatHeadline } from '@switchyard/contract/experiments/presentation/headline.ts';
import type { ComparedView, ExperimentResult, PicturedIndicator } from './experiment-result.ts';

/** Returns the decision, and the headlines: the decision first, then the candidates that it does not describe. */
function describeResult(
  body: { decision?: Decision | undefined; question?: Question | undefined },
  compared: readonly ComparedView[],
): Pick<ExperimentResult, 'decision' | 'headlines' | 'looks'> {
  const { decision } = body;
  const looks = formatOtherLooks(body);
  if (!decision) return { headlines: compared.map(describeFirst) };
  const others = compared.filter(({ names, indicators: [first] }) => {
    const headline = first && formatHeadline({ ...first, ...names });
    return headline !== undefined && !decision.reason.includes(headline);
  });
  return {
    decision,
    headlines: [formatDecision(decision), ...others.map(describeFirst)],
    ...(looks === null ? {} : { looks }),
  };
}

/** Returns the parts of the result that all types with a comparison have. */
export function viewResult(
  address: ExperimentAddress,
  body: ComparedBody,
  compared: readonly ComparedView[],
): Omit<ExperimentResult, 'unit'> {
  const { name, status, warnings } = body;
  return {
    address,
    name,
    status,
    ...describeResult(body, compared),
    isPassed: null,
    warnings,
    compared,
    body,
  };
}

interface ComparedBody {
  name: string;
  status: string;
  warnings: readonly string[];
  decision?: Decision | undefined;
  question?: Question | undefined;
}

/** The sentence about the indicator that decides, or about the first one. */
function describeFirst({ names, indicators }: ComparedView): string {
  const [first] = indicators;
  if (!first) return `No indicator of ${names.candidate} and ${names.control} can be compared.`;
  return describeIndicator({ names, indicators }, first);
}

/** The sentence about an indicator, such as `new is better than old in result.value: -7.8 %.` */
export function describeIndicator(
  { names }: ComparedView,
  { indicator, verdict, effect, interim }: PicturedIndicator,
): string {
  const headline = formatHeadline({ ...names, indicator, verdict, effect });
  return interim ? `${headline} (Interim: the experiment was not at its planned end.)` : headline;
}
