/** The parts of requests that several types have. */
import { findSecondsError, parseSeconds } from '../../../ui/forms/seconds/parse-seconds.ts';
import { splitList } from '../../../ui/forms/split-text.ts';
import { type ExperimentDraft, parseEnsembleSide } from '../draft.ts';

/** Returns a share: `5` percent is 0.05, without the rounding error of a division. */
export function readPercent(text: string): number {
  return Number((Number(text) / 100).toPrecision(12));
}

/** Returns the amount as the API has it: a share of the control, or a number in the unit of the indicator. */
export function readAmount(type: 'relative' | 'absolute', text: string) {
  return { type, value: type === 'relative' ? readPercent(text) : Number(text) };
}

/** Returns the objectives, the primary indicator and the guardrails. A direction alone is a text. */
export function buildComparison(draft: ExperimentDraft) {
  const { indicator, direction, margin, marginType, measure, shift, tieTolerance, largestLoss } = draft;
  const { failureMargin, guardrails } = draft;
  const isDefaultMargin = marginType === 'relative' && (margin === '1' || margin === '');
  const settings = {
    ...(!isDefaultMargin && { margin: readAmount(marginType, margin) }),
    ...(measure !== 'auto' && { measure }),
    ...(Number(shift) !== 0 && { shift: Number(shift) }),
    ...(tieTolerance.trim() && { tie_tolerance: readPercent(tieTolerance) }),
    ...(largestLoss.trim() && { largest_loss: readPercent(largestLoss) }),
    ...(failureMargin.trim() && { failure_margin: readPercent(failureMargin) }),
  };
  const watched = guardrails.filter((guardrail) => guardrail.indicator !== indicator);
  return {
    objectives: {
      ...Object.fromEntries(watched.map((guardrail) => [guardrail.indicator, guardrail.direction])),
      [indicator]: Object.keys(settings).length === 0 ? direction : { direction, ...settings },
    },
    primary: indicator,
    ...(watched.length > 0 && { guardrails: watched.map((guardrail) => guardrail.indicator) }),
  };
}

/** Returns the properties by which the inputs are grouped. */
export function buildInputProperties({ features, clusterBy }: ExperimentDraft) {
  return {
    ...(features.trim() && { features: splitList(features) }),
    ...(clusterBy.trim() && { cluster_by: splitList(clusterBy) }),
  };
}

/** Returns the side of a run or of an acceptance test. */
export function buildSide(side: string) {
  const ensemble = parseEnsembleSide(side);
  return ensemble === undefined ? { instance_id: side } : { ensemble_id: ensemble };
}

/** Returns the settings that all runs of the experiment share. */
export function buildRunSettings({ priority, maxDuration }: ExperimentDraft) {
  const error = findSecondsError(maxDuration);
  if (error !== null) throw new SyntaxError(error);
  return {
    ...(priority !== '' && { priority: Number(priority) }),
    ...(maxDuration.trim() && { max_duration: parseSeconds(maxDuration) }),
  };
}

/** Returns the time of the form in UTC; the text itself if it is no time, which the server refuses. */
export function readTime(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
