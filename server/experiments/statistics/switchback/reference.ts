/**
 * The plans that the coins of a design can give: all of them, or many drawn ones with the real plan among them.
 *
 * A draft draws again when its plan leaves too few counted units for a verdict (plan-units.ts). So the reference of a plan
 * with enough of them has only such plans. A condition on the plan alone keeps the randomisation test exact.
 */

import { RandomGenerator } from '../../../platform/random-generator.ts';
import {
  assignUnits,
  type CoinGroup,
  flagUnits,
  GROUPS,
  hasEnoughCountedFlags,
  throwCoins,
} from './design.ts';

/** Plans to compare the real one with, over the units that have ended. */
export interface ReferencePlans {
  method: 'exact' | 'draws';
  plans: GroupedPlans;
  /** Position of the real plan. */
  realPlan: number;
  /** Flags of each unit in the real plan, see design.ts. */
  real: Uint8Array;
}

interface ReferenceSettings {
  seed: string;
  draws?: number;
  /** Units that ended before the start of the test: the control served them, whatever the coins. */
  skippedUnits?: number;
}

/** Up to this number of coins every plan is listed. */
const EXACT_COINS_MAX = 13;
const DRAWS = 9_999;
/** Tries for each plan that is drawn; at least half of all plans of an accepted design have enough counted units. */
const TRIES_PER_DRAW = 4;

/**
 * Lists the reference plans of a real assignment. Among drawn plans it is the first.
 * @param assignment sides of the units that have ended; coins of other units have no effect.
 */
export function listReferencePlans(
  coins: readonly CoinGroup[],
  assignment: Uint8Array,
  carryOverUnits: number,
  { seed, draws = DRAWS, skippedUnits = 0 }: ReferenceSettings,
): ReferencePlans {
  const units = assignment.length;
  const serve = (sides: Uint8Array) => sides.fill(0, 0, skippedUnits);
  const thrown = coins.filter(({ first, second }) =>
    [...first, ...second].some((unit) => unit >= skippedUnits && unit < units),
  );
  const real = flagUnits(serve(assignment.slice()), carryOverUnits);
  const isRestricted = hasEnoughCountedFlags(real);
  const describe = (heads: ArrayLike<number>): Uint8Array[] => {
    const drawn = flagUnits(serve(assignUnits(thrown, heads, units)), carryOverUnits);
    return isRestricted && !hasEnoughCountedFlags(drawn) ? [] : [drawn];
  };
  const generator = new RandomGenerator(`assignments ${seed}`);
  const isExact = thrown.length <= EXACT_COINS_MAX;
  const listed = isExact
    ? listHeads(thrown.length).flatMap(describe)
    : [real, ...drawPlans(() => describe(throwCoins(thrown, generator)), draws)];
  const found = isExact ? listed.findIndex((plan) => plan.every((flags, unit) => flags === real[unit])) : 0;
  const plans = groupPlans(found < 0 ? [real, ...listed] : listed, units);
  return { method: isExact ? 'exact' : 'draws', plans, realPlan: Math.max(0, found), real };
}

/** Every outcome of so many coins. */
function listHeads(coins: number): Uint8Array[] {
  return Array.from({ length: 2 ** coins }, (_, number) => {
    const heads = new Uint8Array(coins);
    for (let coin = 0; coin < coins; coin += 1) heads[coin] = (number >> coin) & 1;
    return heads;
  });
}

function drawPlans(draw: () => Uint8Array[], count: number): Uint8Array[] {
  const plans: Uint8Array[] = [];
  for (let tries = 0; plans.length < count && tries < TRIES_PER_DRAW * count; tries += 1)
    plans.push(...draw());
  return plans;
}

/** Sums by group, plan after plan: the entry of a group is at `plan * GROUPS + group`. */
export interface PlanSums {
  sums: Float64Array;
  squares: Float64Array;
}

/** The units of every plan, group by group. */
interface GroupedPlans {
  count: number;
  units: number;
  /** Indexes of the units, plan after plan. */
  order: Uint16Array;
  /** Start of each group in the plan's part of `order`. */
  starts: Uint16Array;
}

/** Groups the units of plans given as flags, plan after plan. It is a counting sort: units of a group stay in order. */
function groupPlans(flags: readonly Uint8Array[], units: number): GroupedPlans {
  const order = new Uint16Array(flags.length * units);
  const starts = new Uint16Array(flags.length * GROUPS);
  const next = new Uint16Array(GROUPS + 1);
  flags.forEach((plan, index) => {
    next.fill(0);
    for (let unit = 0; unit < units; unit += 1) {
      const after = (plan[unit] ?? 0) + 1;
      next[after] = (next[after] ?? 0) + 1;
    }
    for (let group = 1; group < GROUPS; group += 1) next[group] = (next[group] ?? 0) + (next[group - 1] ?? 0);
    starts.set(next.subarray(0, GROUPS), index * GROUPS);
    for (let unit = 0; unit < units; unit += 1) {
      const group = plan[unit] ?? 0;
      const place = next[group] ?? 0;
      order[index * units + place] = unit;
      next[group] = place + 1;
    }
  });
  return { count: flags.length, units, order, starts };
}

/**
 * Sums the values of the units of each group from `firstGroup` on.
 * @param values one for each unit that has ended, 0 for a unit without an outcome.
 *
 * Sums of unit values by group for every reference plan. There are 10,000 plans of up to 1,000 units for each of 50
 * indicators, so this loop takes most of the time of an analysis. Each plan lists its units group by group: the inner loop
 * has no branch and adds in registers, which is four times as fast as adding to a table.
 */
export function sumPlans(
  { count, units, order, starts }: GroupedPlans,
  values: Float64Array,
  firstGroup: number,
): PlanSums {
  const sums = new Float64Array(count * GROUPS);
  const squares = new Float64Array(count * GROUPS);
  for (let plan = 0; plan < count; plan += 1)
    for (let group = firstGroup; group < GROUPS; group += 1) {
      const entry = plan * GROUPS + group;
      const end = plan * units + (group === GROUPS - 1 ? units : (starts[entry + 1] ?? 0));
      let [sum, square] = [0, 0];
      for (let place = plan * units + (starts[entry] ?? 0); place < end; place += 1) {
        const value = values[order[place] ?? 0] ?? 0;
        sum += value;
        square += value * value;
      }
      sums[entry] = sum;
      squares[entry] = square;
    }
  return { sums, squares };
}
