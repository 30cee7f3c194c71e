/**
 * The plans that the coins of a design can give: all of them, or many drawn ones with the real plan among them.
 *
 * A draft draws again when its plan leaves too few counted units for a verdict (plan-units.ts). So the reference of a plan
 * with enough of them has only such plans. A condition on the plan alone keeps the randomisation test exact.
 */
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { assignUnits, type CoinGroup, flagUnits, hasEnoughCountedFlags, throwCoins } from './design.ts';
import { type GroupedPlans, groupPlans } from './plan-sums.ts';

/** Plans to compare the real one with, over the units that have ended. */
export interface ReferencePlans {
  method: 'exact' | 'draws';
  plans: GroupedPlans;
  /** Position of the real plan. */
  realPlan: number;
  /** Flags of each unit in the real plan, see plan-sums.ts. */
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
