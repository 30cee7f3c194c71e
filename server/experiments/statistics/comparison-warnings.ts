/** Sentences about a comparison that a reader of its verdict should know. */
import type { ComparisonSide, Tally } from './comparison.ts';
import type { PairedInput } from './pairs.ts';
import { formatCount } from './verdict.ts';

/** What warnings are drawn from. */
export interface ComparisonSummary {
  indicator: string;
  paired: readonly PairedInput[];
  inputs: Tally;
  pairs: Tally;
  control: ComparisonSide;
  candidate: ComparisonSide;
  /** What the sides are called in a warning: `candidate (instance "staging")`. */
  names: { control: string; candidate: string };
}

/** All warnings that apply, the gravest first. */
export function listWarnings(compared: ComparisonSummary): string[] {
  const { inputs, paired } = compared;
  const warnings = [...sideWarnings(compared)];
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

/** About runs that give no value: they are left out, so what they would say is not in the result. */
function sideWarnings({
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
  const isSilent = (side: ComparisonSide) => side.runs.succeeded > 0 && side.missing === side.runs.succeeded;
  // A side that never reports the indicator loses no runs: it measures something else.
  const lost = (side: ComparisonSide) =>
    side.runs.failed + side.runs.canceled + (isSilent(side) ? 0 : side.missing);
  const shareLost = (side: ComparisonSide) => (side.runs.total === 0 ? 0 : lost(side) / side.runs.total);
  for (const [name, side] of sides) {
    if (side.runs.total === 0) warnings.push(`The ${name} has no runs.`);
    else if (side.runs.succeeded === 0) warnings.push(`No run of the ${name} succeeded.`);
    else if (isSilent(side))
      warnings.push(
        `The ${name} does not report ${indicator}: ${side.runs.succeeded === 1 ? 'its only successful run has' : `none of its ${side.runs.succeeded} successful runs has`} a number under this name. Without it the sides cannot be compared.`,
      );
    else if (side.missing > 0)
      warnings.push(
        `${formatCount(side.missing, 'run')} of the ${name} succeeded without a number as ${indicator} and are left out.`,
      );
  }
  if (shareLost(control) !== shareLost(candidate))
    warnings.push(
      `The sides lost runs differently: ${lostSentence(names.control, control)}, ${lostSentence(names.candidate, candidate)}. ` +
        'Lost runs are left out, so a side that fails where it would do badly looks better than it is.',
    );
  const pending = control.runs.pending + candidate.runs.pending;
  if (pending > 0)
    warnings.push(`${formatCount(pending, 'run')} have not ended: a result looked at early may change.`);
  return warnings;
}

function lostSentence(name: string, { runs, missing }: ComparisonSide): string {
  return `the ${name} has ${runs.failed} failed, ${runs.canceled} canceled and ${missing} without a value of ${runs.total}`;
}
