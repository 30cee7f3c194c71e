/**
 * How the effect of a candidate depends on features of the inputs: its estimate in groups of inputs, with a test that all
 * groups have the same. Exploratory: it reads a comparison's units and changes nothing of its verdict. The p-values of all
 * features, indicators and candidates are corrected together.
 */
import { INTERACTION_INPUTS_MAX } from '@switchyard/contract/limits.ts';
import { Resampler } from '../bootstrap.ts';
import { FINAL_ALPHA } from '../error-rates.ts';
import { roundToTwoDigits } from '../format-numbers.ts';
import {
  type ComparisonDesign,
  estimateSubset,
  measureIndicator,
  type PairedMeasurement,
} from '../paired/compare.ts';
import { convertEstimate, type Estimate } from '../paired/estimates.ts';
import type { Comparison, FamilyGroup, FamilyIndicator } from '../paired/family.ts';
import { adjustWeightedHolm } from '../paired/multiple-comparisons.ts';
import { scoreWorstRanks } from '../paired/signed-rank.ts';
import { isInformative, tallyUnits } from '../paired/tallies.ts';
import type { PairedUnit } from '../paired/units.ts';
import { type FeatureGroup, GROUP_UNITS_MIN, groupByFeature } from './feature-groups.ts';
import { type InteractionTest, type PermutationSettings, testInteraction } from './interaction-test.ts';

/** The effect in one group of inputs, in the form of the API. */
interface InteractionGroup {
  label: string;
  low: number | null;
  high: number | null;
  inputs: number;
  input_ids: string[];
  wins: number;
  ties: number;
  losses: number;
  effect: Estimate | null;
  is_tested: boolean;
}

/** The effect by one feature, in the form of the API. */
interface Interaction {
  feature: string;
  type: 'number' | 'category';
  groups: InteractionGroup[];
  missing: number;
  p_value: number | null;
  p_value_holm: number | null;
  permutations: number;
  exploratory: true;
  reading: string;
}

const PERMUTATIONS_MIN = 1999;
const PERMUTATIONS_MAX = 9999;
/** Permutations for each test of the family, so that an adjusted p-value of 0.04 can be reached. */
const PERMUTATIONS_PER_TEST = 40;
/** With more tests, no adjusted p-value is small, and the response grows for nothing. */
const TESTS_MAX = 400;
/** The measurement of the units needs no interval. */
const MEASUREMENT_RESAMPLES = 39;
/** The indicator whose interactions are described when no indicator is primary. */
const SOLUTION_VALUE = 'result.value';

/** The groups of runs and the indicators of a comparison, with the features of the inputs. */
export interface ExploredFamily {
  groups: readonly FamilyGroup[];
  indicators: readonly FamilyIndicator[];
  features: readonly string[];
}

/** A comparison with the interactions of its effect; absent without features. */
export type ExploredComparison = Comparison & { interactions?: Interaction[] };

/**
 * Returns the comparisons of the family with interactions for each primary indicator, or for `result.value`. Beyond 400
 * tests, later groups of runs have none.
 */
export function addInteractions(
  comparisons: readonly Comparison[][],
  { groups, indicators, features }: ExploredFamily,
  design: ComparisonDesign,
): ExploredComparison[][] {
  const primary = indicators.filter(({ role }) => role === 'primary');
  const chosen =
    primary.length > 0 ? primary : indicators.filter(({ indicator }) => indicator === SOLUTION_VALUE);
  const testsPerGroup = chosen.length * features.length;
  if (testsPerGroup === 0) return comparisons.map((list) => [...list]);
  const explored = groups.slice(0, Math.max(1, Math.floor(TESTS_MAX / testsPerGroup)));
  const interactions = describeInteractions({ groups: explored, indicators: chosen, features }, design);
  return comparisons.map((list, group) =>
    indicators.flatMap((indicator, index) => {
      const comparison = list[index];
      const found = interactions[group]?.[chosen.indexOf(indicator)];
      return comparison ? [found ? { ...comparison, interactions: found } : comparison] : [];
    }),
  );
}

/** The design of the comparison, and the number of ids that a group lists. */
type FormattedDesign = ComparisonDesign & { idsMax: number };

interface TestedFeature {
  measurement: PairedMeasurement;
  feature: string;
  type: 'number' | 'category';
  groups: FeatureGroup[];
  missing: number;
  test: InteractionTest | null;
}

/** Returns the interactions of each indicator of each group of runs: one list for each group, with one list for each indicator. */
export function describeInteractions(
  { groups, indicators, features }: ExploredFamily,
  design: ComparisonDesign,
): Interaction[][][] {
  const tests = groups.length * indicators.length * features.length;
  const permutationsMax = Math.min(
    PERMUTATIONS_MAX,
    Math.max(PERMUTATIONS_MIN, PERMUTATIONS_PER_TEST * tests - 1),
  );
  const { seed } = design.resampler;
  const quick = { ...design, resampler: new Resampler({ seed, resamples: MEASUREMENT_RESAMPLES }) };
  const tested = groups.map((group) =>
    indicators.map((indicator) => {
      const measurement = measureIndicator(group, indicator.indicator, indicator, quick);
      const scored = scoreUnits(measurement, indicator);
      return features.map((feature) => testFeature(scored, feature, { seed, permutationsMax }));
    }),
  );
  const all = tested.flat(2);
  const adjusted = adjustWeightedHolm(
    all.map(({ test }) => test?.p_value ?? null),
    all.map(() => 1 / all.length),
  );
  const groupCount = all.reduce((sum, one) => sum + one.groups.length, 0);
  const idsMax = Math.max(1, Math.floor(INTERACTION_INPUTS_MAX / Math.max(groupCount, 1)));
  const byTest = new Map(all.map((one, index) => [one, adjusted[index] ?? null]));
  return tested.map((group) =>
    group.map((indicator) =>
      indicator.map((one) => formatInteraction(one, byTest.get(one) ?? null, { ...design, idsMax })),
    ),
  );
}

/** The units of a comparison that tell something of it, each with its score. */
interface ScoredUnits {
  measurement: PairedMeasurement;
  units: PairedUnit[];
  scores: ReadonlyMap<PairedUnit, number>;
}

/** Scores the units: a failure has the worst score; without a direction it has none. */
function scoreUnits(measurement: PairedMeasurement, { direction }: FamilyIndicator): ScoredUnits {
  const { complete, orientation } = measurement;
  const units = complete.filter((unit) =>
    direction === 'none' ? unit.effect !== null : isInformative(unit),
  );
  const worst = scoreWorstRanks(units, orientation);
  const scores = new Map(
    units.map((unit, index) => [unit, direction === 'none' ? (unit.effect ?? 0) : (worst[index] ?? 0)]),
  );
  return { measurement, units, scores };
}

function testFeature(
  { measurement, units, scores }: ScoredUnits,
  feature: string,
  settings: PermutationSettings,
): TestedFeature {
  const { type, groups, missing } = groupByFeature(units, feature);
  const clustering = findCoarsestClustering(measurement);
  const members = groups
    .filter(isTestable)
    .flatMap((group, place) => group.units.map((unit) => ({ unit, place })));
  const test = testInteraction(
    {
      scores: members.map(({ unit }) => scores.get(unit) ?? 0),
      groups: members.map(({ place }) => place),
      clusters: clustering === null ? null : members.map(({ unit }) => unit.clusters[clustering] ?? ''),
    },
    settings,
  );
  return { measurement, feature, type, groups, missing, test };
}

function isTestable({ units }: FeatureGroup): boolean {
  return units.length >= GROUP_UNITS_MIN;
}

/** Returns the clustering with the fewest clusters, in which inputs depend on each other most; null for none. */
function findCoarsestClustering({ dependence }: PairedMeasurement): string | null {
  const [coarsest] = dependence.clusterings.toSorted((a, b) => a.effective - b.effective);
  return coarsest?.by ?? null;
}

function formatInteraction(
  { measurement, feature, type, groups, missing, test }: TestedFeature,
  p_value_holm: number | null,
  design: FormattedDesign,
): Interaction {
  return {
    feature,
    type,
    groups: groups.map((group) => formatGroup(group, measurement, design)),
    missing,
    p_value: test?.p_value ?? null,
    p_value_holm,
    permutations: test?.permutations ?? 0,
    exploratory: true,
    reading: formatReading(feature, p_value_holm),
  };
}

function formatGroup(
  group: FeatureGroup,
  { measure, orientation, scale }: PairedMeasurement,
  design: FormattedDesign,
): InteractionGroup {
  const { units, label, low, high } = group;
  const { effect, interval } = estimateSubset(units, design);
  const { usable, wins, ties, losses } = tallyUnits(units, units, orientation);
  const convert = (value: number): number =>
    measure === 'relative' ? Math.exp(value) : value / scale.factor;
  return {
    ...{ label, low, high, inputs: usable, wins, ties, losses },
    input_ids: units.flatMap(({ input_ids }) => input_ids).slice(0, design.idsMax),
    effect: convertEstimate(effect, interval, convert),
    is_tested: isTestable(group),
  };
}

function formatReading(feature: string, p_value: number | null): string {
  if (p_value === null)
    return `No test of ${feature}: it needs two groups with at least ${GROUP_UNITS_MIN} inputs each, or ${GROUP_UNITS_MIN} clusters each where clusters do not mix groups.`;
  const adjusted = `adjusted p-value ${roundToTwoDigits(p_value)}`;
  return p_value <= FINAL_ALPHA
    ? `The effect differs between groups by ${feature} (${adjusted}). This is exploratory: confirm it in an experiment on new inputs.`
    : `No sign that the effect depends on ${feature} (${adjusted}). With few inputs, a dependence can stay hidden.`;
}
