/** Writes the warnings of a comparison: facts that a reader of its verdict should know. */
import type { ComparisonSide, Tally } from './comparison.ts';
import type { PairedInput } from './pairs.ts';
import { formatCount } from './verdict.ts';

/** The facts of a comparison that may cause a warning. */
export interface ComparisonSummary {
  indicator: string;
  paired: readonly PairedInput[];
  inputs: Tally;
  pairs: Tally;
  control: ComparisonSide;
  candidate: ComparisonSide;
  /** The name of each side in a warning: `candidate (instance "staging")`. */
  names: { control: string; candidate: string };
}

/** Returns the warnings that apply, the most serious first. */
export function listWarnings(compared: ComparisonSummary): string[] {
  const { inputs, paired } = compared;
  const warnings = [...listSideWarnings(compared)];
  if (inputs.total > inputs.usable && inputs.usable > 0)
    warnings.push(
      `${formatCount(inputs.total - inputs.usable, 'input')} of ${inputs.total} have no usable value on both sides and are left out.`,
    );
  if (inputs.usable === 1) warnings.push('There is one usable input: nothing can be said about others.');
  if (inputs.usable > 1 && inputs.ties > inputs.usable / 2)
    warnings.push(`${inputs.ties} of ${inputs.usable} inputs tie: what differs rests on the few others.`);
  const byMeans = paired.filter((input) => input.by_means).length;
  if (byMeans > 0)
    warnings.push(
      `For ${formatCount(byMeans, 'input')} the sides have different repetitions; these are paired by their means.`,
    );
  return warnings;
}

/** Returns the warnings about runs without a value, because the result does not contain them. */
function listSideWarnings({
  indicator,
  control,
  candidate,
  names,
}: Pick<ComparisonSummary, 'indicator' | 'control' | 'candidate' | 'names'>) {
  const warnings: string[] = [];
  const sides = [
    [names.control, control],
    [names.candidate, candidate],
  ] as const;
  const lacksIndicator = (side: ComparisonSide) =>
    side.runs.succeeded > 0 && side.missing === side.runs.succeeded;
  // A side that never reports the indicator loses no runs: it measures something else.
  const countLost = (side: ComparisonSide) =>
    side.runs.failed + side.runs.canceled + (lacksIndicator(side) ? 0 : side.missing);
  const computeLostShare = (side: ComparisonSide) =>
    side.runs.total === 0 ? 0 : countLost(side) / side.runs.total;
  for (const [name, side] of sides) {
    if (side.runs.total === 0) warnings.push(`The ${name} has no runs.`);
    else if (side.runs.succeeded === 0) warnings.push(`No run of the ${name} succeeded.`);
    else if (lacksIndicator(side))
      warnings.push(
        `The ${name} does not report ${indicator}: ${side.runs.succeeded === 1 ? 'its only successful run has' : `none of its ${side.runs.succeeded} successful runs has`} a number under this name. Without it the sides cannot be compared.`,
      );
    else if (side.missing > 0)
      warnings.push(
        `${formatCount(side.missing, 'run')} of the ${name} succeeded without a number as ${indicator} and are left out.`,
      );
  }
  if (computeLostShare(control) !== computeLostShare(candidate))
    warnings.push(
      `The sides lost runs differently: ${describeLostRuns(names.control, control)}, ${describeLostRuns(names.candidate, candidate)}. ` +
        'The comparison leaves lost runs out, so a side that fails where it would do badly looks better than it is.',
    );
  const pending = control.runs.pending + candidate.runs.pending;
  if (pending > 0)
    warnings.push(`${formatCount(pending, 'run')} have not ended: a result looked at early may change.`);
  return warnings;
}

function describeLostRuns(name: string, { runs, missing }: ComparisonSide): string {
  return `the ${name} has ${runs.failed} failed, ${runs.canceled} canceled and ${missing} without a value of ${runs.total}`;
}
