/**
 * How the effect of a candidate depends on features of the inputs: its estimate in groups of inputs. Exploratory: it reads a
 * comparison's units and changes nothing of its verdict.
 */

import { USUAL_OBJECTIVE } from '@switchyard/contract/applications/usual-objective.ts';
import type { Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import type { Interaction } from '@switchyard/contract/experiments/input-interactions.ts';
import { INTERACTION_INPUTS_MAX } from '@switchyard/contract/limits.ts';
import { distinguish } from '@switchyard/contract/presentation/format-quantity.ts';
import { Resampler } from './bootstrap.ts';
import { convertEstimate } from './comparison/effect-scale.ts';
import type { FamilyIndicator } from './comparison/pipeline.ts';
import { clamp } from './numbers.ts';
import { compareText } from './observations.ts';
import {
  type ComparisonDesign,
  estimateSubset,
  measureIndicator,
  type PairedMeasurement,
} from './paired/compare.ts';
import type { FamilyGroup } from './paired/family.ts';
import { isInformative, tallyUnits } from './paired/tallies.ts';
import type { PairedUnit } from './paired/units.ts';

type InteractionGroup = Interaction['groups'][number];

/** More effects by feature are more than a reader compares, and the response grows for nothing. */
const EFFECTS_MAX = 400;
/** The measurement of the units needs no interval. */
const MEASUREMENT_RESAMPLES = 39;

/** The groups of runs and the indicators of a comparison, with the features of the inputs. */
interface ExploredFamily {
  groups: readonly FamilyGroup[];
  indicators: readonly FamilyIndicator[];
  features: readonly string[];
}

/**
 * Returns the comparisons of the family with interactions for each primary indicator, or for `result.value`. Beyond 400
 * of them, later groups of runs have none.
 */
export function addInteractions(
  comparisons: readonly Comparison[][],
  { groups, indicators, features }: ExploredFamily,
  design: ComparisonDesign,
): Comparison[][] {
  const primary = indicators.filter(({ role }) => role === 'primary');
  const chosen =
    primary.length > 0 ? primary : indicators.filter(({ indicator }) => indicator === USUAL_OBJECTIVE);
  const featuresPerGroup = chosen.length * features.length;
  if (featuresPerGroup === 0) return comparisons.map((list) => [...list]);
  const explored = groups.slice(0, Math.max(1, Math.floor(EFFECTS_MAX / featuresPerGroup)));
  const interactions = describeInteractions({ groups: explored, indicators: chosen, features }, design);
  return comparisons.map((list, group) =>
    indicators.flatMap((indicator, index) => {
      const comparison = list[index];
      const found = interactions[group]?.[chosen.indexOf(indicator)];
      return comparison ? [found ? { ...comparison, interactions: found } : comparison] : [];
    }),
  );
}

/** The units of a comparison by one feature. */
interface GroupedEffect extends GroupedUnits {
  measurement: PairedMeasurement;
  feature: string;
}

/** Returns the interactions of each indicator of each group of runs: one list for each group, with one list for each indicator. */
function describeInteractions(
  { groups, indicators, features }: ExploredFamily,
  design: ComparisonDesign,
): Interaction[][][] {
  const { seed } = design.resampler;
  const quick = { ...design, resampler: new Resampler({ seed, resamples: MEASUREMENT_RESAMPLES }) };
  const grouped = groups.map((group) =>
    indicators.map((indicator): GroupedEffect[] => {
      const measurement = measureIndicator(group, indicator.indicator, indicator, quick);
      const units = measurement.complete.filter((unit) =>
        indicator.direction === 'none' ? unit.effect !== null : isInformative(unit),
      );
      return features.map((feature) => ({ measurement, feature, ...groupByFeature(units, feature) }));
    }),
  );
  const groupCount = grouped.flat(2).reduce((sum, one) => sum + one.groups.length, 0);
  const idsMax = Math.max(1, Math.floor(INTERACTION_INPUTS_MAX / Math.max(groupCount, 1)));
  return grouped.map((group) =>
    group.map((indicator) =>
      indicator.map(({ feature, type, missing, groups: own, measurement }) => ({
        ...{ feature, type, missing },
        groups: own.map((one) => formatGroup(one, measurement, { ...design, idsMax })),
      })),
    ),
  );
}

function formatGroup(
  group: FeatureGroup,
  { measure, orientation, scale }: PairedMeasurement,
  design: ComparisonDesign & { idsMax: number },
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
  };
}

/** Fewer units have no interval. */
const GROUP_UNITS_MIN = 5;
/** More groups than a reader compares at a glance. */
const CATEGORIES_MAX = 6;
const NUMBER_GROUPS_MAX = 3;

/** Units with similar values of the feature. */
interface FeatureGroup {
  label: string;
  /** Smallest and largest number; null for categories. */
  low: number | null;
  high: number | null;
  units: PairedUnit[];
}

/** The units by one feature. */
interface GroupedUnits {
  type: 'number' | 'category';
  groups: FeatureGroup[];
  /** Number of units without the feature. */
  missing: number;
}

interface ValuedUnit<Value> {
  unit: PairedUnit;
  value: Value;
}

/**
 * Returns the groups. Numbers form thirds of about equal size, halves below 15 units, with equal numbers in one group. Texts
 * form one group each, the largest first; rare ones form the group `other`. Numbers beside texts count as texts.
 */
export function groupByFeature(units: readonly PairedUnit[], feature: string): GroupedUnits {
  const valued = units.flatMap((unit): ValuedUnit<number | string>[] => {
    const value = unit.features[feature];
    return value === undefined ? [] : [{ unit, value }];
  });
  const missing = units.length - valued.length;
  const numbers = valued.flatMap(({ unit, value }): ValuedUnit<number>[] =>
    typeof value === 'number' ? [{ unit, value }] : [],
  );
  return numbers.length === valued.length
    ? { type: 'number', groups: groupByNumber(numbers), missing }
    : { type: 'category', groups: groupByCategory(valued), missing };
}

function groupByNumber(valued: readonly ValuedUnit<number>[]): FeatureGroup[] {
  const ascending = valued.toSorted((a, b) => a.value - b.value);
  const count = clamp(Math.floor(ascending.length / GROUP_UNITS_MIN), 1, NUMBER_GROUPS_MAX);
  const groups = new Map<number, ValuedUnit<number>[]>();
  for (let start = 0; start < ascending.length; ) {
    const value = ascending[start]?.value;
    let end = start + 1;
    while (end < ascending.length && ascending[end]?.value === value) end += 1;
    // Equal numbers belong together, to the group of the middle one.
    const place = Math.floor((((start + end) / 2) * count) / ascending.length);
    groups.set(place, [...(groups.get(place) ?? []), ...ascending.slice(start, end)]);
    start = end;
  }
  const ends = [...groups.values()].flatMap((group) => [group[0]?.value, group.at(-1)?.value]);
  const format = distinguish(ends);
  return [...groups.values()].map((group) => {
    const low = group[0]?.value ?? 0;
    const high = group.at(-1)?.value ?? 0;
    const label = low === high ? format(low) : `${format(low)} to ${format(high)}`;
    return { label, low, high, units: group.map(({ unit }) => unit) };
  });
}

function groupByCategory(valued: readonly ValuedUnit<number | string>[]): FeatureGroup[] {
  const categories = new Map<string, PairedUnit[]>();
  for (const { unit, value } of valued) {
    const units = categories.get(String(value)) ?? [];
    units.push(unit);
    categories.set(String(value), units);
  }
  const ordered = [...categories].sort(
    ([a, some], [b, more]) => more.length - some.length || compareText(a, b),
  );
  const named = ordered.filter(
    ([, units], place) => place < CATEGORIES_MAX && units.length >= GROUP_UNITS_MIN,
  );
  const others = ordered.slice(named.length).flatMap(([, units]) => units);
  const format = (label: string, units: PairedUnit[]): FeatureGroup => ({
    label,
    low: null,
    high: null,
    units,
  });
  return [
    ...named.map(([label, units]) => format(label, units)),
    ...(others.length > 0 ? [format('other', others)] : []),
  ];
}
