/** The verdict of the stored results of an experiment with runs. The server reads it from their JSON. */
import Type, { type Static } from 'typebox';
import { nullable } from '../schemas/field-schemas.ts';
import { BisectExperimentResult } from './bisect/bisect-results.ts';
import { type Decision, decisionField } from './comparisons/decisions.ts';
import { Comparison, groupFields } from './experiment-results.ts';
import type { ExperimentVerdict } from './experiment-summaries.ts';
import { readEffect } from './presentation/effects.ts';
import { createGroupNamer } from './presentation/group-labels.ts';
import {
  type RatedSides,
  rateCandidate,
  rateCandidates,
  rateSearch,
  sortByRole,
} from './presentation/rate-experiment.ts';

const { indicator, role, objective, verdict, measure, tolerance } = Comparison.properties;
const { geometric_mean_ratio, mean_difference } = Comparison.properties;

const RatedComparison = Type.Object({
  ...{ indicator, role, objective, verdict, measure, tolerance, geometric_mean_ratio, mean_difference },
  control: Type.Object({ mean: nullable(Type.Number()) }),
});
const RatedGroups = Type.Object({
  control: Type.Object(groupFields),
  candidate: Type.Object(groupFields),
  indicators: Type.Array(RatedComparison),
});

/** The fields of the results that make the verdict. A test has groups, or the indicators of its one candidate. */
export const RatedResults = Type.Object({
  decision: decisionField,
  comparisons: Type.Optional(Type.Array(RatedGroups)),
  compared: Type.Optional(Type.Array(Type.Union([RatedGroups, RatedComparison]))),
  verdict: Type.Optional(BisectExperimentResult.properties.verdict),
});

/** Returns the verdict; null for results without a comparison. */
export function rateResults(results: Static<typeof RatedResults>): ExperimentVerdict | null {
  const { decision, comparisons, compared = [], verdict } = results;
  if (verdict !== undefined) return { word: rateSearch({ verdict }) };
  const groups = comparisons ?? compared.filter((one) => 'indicators' in one);
  const nameGroup = createGroupNamer(groups.flatMap(({ control, candidate }) => [control, candidate]));
  const ungrouped = compared.filter((one) => 'indicator' in one);
  const sides = [
    ...groups.map(({ candidate, indicators }) => viewSides(nameGroup(candidate), indicators)),
    ...(ungrouped.length > 0 ? [viewSides('', ungrouped)] : []),
  ];
  return decision ? rateCompared(decision, sides) : null;
}

function viewSides(candidate: string, comparisons: readonly Static<typeof RatedComparison>[]): RatedSides {
  const indicators = sortByRole(comparisons).map((one) => ({ ...one, effect: readEffect(one) }));
  return { names: { candidate }, indicators };
}

function rateCompared(decision: Decision, compared: readonly RatedSides[]): ExperimentVerdict | null {
  const [first, ...others] = compared;
  if (!first?.indicators[0]) return null;
  if (others.length === 0) return { word: rateCandidate(decision, first.indicators).word };
  const { word, released } = rateCandidates(decision, compared);
  return { word, ...(word === 'best' && released[0]?.names) };
}
