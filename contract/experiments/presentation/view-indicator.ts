/** One comparison of any type of experiment in the form that the command line, the report and the console show. */
import type { Comparison, SwitchbackComparison } from '../experiment-results.ts';
import { type Effect, readEffect } from './effects.ts';

/** The comparison of one indicator. */
export interface IndicatorView {
  indicator: string;
  role: 'primary' | 'guardrail' | 'other';
  objective: 'minimize' | 'maximize' | 'none';
  verdict: string;
  /** true before the planned end, and for a test that was stopped early. */
  interim: boolean;
  reasons: readonly string[];
  warnings: readonly string[];
  effect: Effect;
  /** Means of both sides. */
  control: number | null;
  candidate: number | null;
  pValue: number | null;
  adjustedPValue: number | null;
}

/** Returns the view. The units of a switchback test are not paired: a randomisation test decides there. */
export function viewIndicator(comparison: Comparison | SwitchbackComparison): IndicatorView {
  const { indicator, role, verdict, interim, reasons, warnings, objective } = comparison;
  const test = 'randomization' in comparison ? comparison.randomization : comparison.sign_flips;
  return {
    ...{ indicator, role, verdict, interim, reasons, warnings, objective },
    effect: readEffect(comparison),
    control: readMean(comparison.control),
    candidate: readMean(comparison.candidate),
    pValue: test.p_value,
    adjustedPValue: test.p_value_holm,
  };
}

/** Returns the mean that the estimate compares. */
function readMean(side: { mean: number | null; estimated_mean?: number | null }): number | null {
  return side.estimated_mean ?? side.mean;
}
