/** Groups the units of a comparison by one feature of their inputs. */
import { distinguish } from '@switchyard/contract/presentation/format-quantity.ts';
import { clamp } from '../numbers.ts';
import { compareText } from '../observations.ts';
import type { PairedUnit } from '../paired/units.ts';

/** Fewer units have no interval. */
const GROUP_UNITS_MIN = 5;
/** More groups than a reader compares at a glance. */
const CATEGORIES_MAX = 6;
const NUMBER_GROUPS_MAX = 3;

/** Units with similar values of the feature. */
export interface FeatureGroup {
  label: string;
  /** Smallest and largest number; null for categories. */
  low: number | null;
  high: number | null;
  units: PairedUnit[];
}

/** The units by one feature. */
export interface GroupedUnits {
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
