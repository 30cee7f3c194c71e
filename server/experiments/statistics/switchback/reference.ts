/**
 * The plans that the coins of a design could have given: all of them, or many drawn ones with the real plan among them.
 *
 * A plan that leaves too few settled units for a verdict is drawn again (draw-plan.ts). So the reference of a plan that can
 * have a verdict has only such plans. Conditioning on a property of the plan keeps the randomisation test exact.
 */
import { RandomGenerator } from '../random-generator.ts';
import {
  assignUnits,
  type CoinGroup,
  findSettledUnits,
  hasEnoughSettledUnits,
  throwCoins,
} from './design.ts';
import { CANDIDATE, type GroupedPlans, groupPlans, SETTLED, SETTLED_LONGER } from './plan-sums.ts';

/** Plans to compare the real one with, over the units that have ended. */
export interface ReferencePlans {
  method: 'exact' | 'draws';
  plans: GroupedPlans;
  /** Position of the real plan. */
  realPlan: number;
  /** Flags of each unit in the real plan, see plan-sums.ts. */
  real: Uint8Array;
}

/** Up to this number of coins every plan is listed. */
export const EXACT_COINS_MAX = 13;
export const DRAWS = 9_999;
/** Tries for each plan that is drawn; at least half of all plans of an accepted design have enough settled units. */
const TRIES_PER_DRAW = 4;

/**
 * Lists the reference plans of a real assignment, which is the first when plans are drawn.
 * @param assignment sides of the units that have ended; coins of later units have no effect.
 */
export function listReferencePlans(
  coins: readonly CoinGroup[],
  assignment: Uint8Array,
  carryOverUnits: number,
  { seed, draws = DRAWS }: { seed: string; draws?: number },
): ReferencePlans {
  const units = assignment.length;
  const thrown = coins.filter(({ first, second }) => Math.min(...first, ...second) < units);
  const isRestricted = hasEnoughSettledUnits(assignment, carryOverUnits);
  const describe = (heads: ArrayLike<number>): Uint8Array[] => {
    const drawn = assignUnits(thrown, heads, units);
    return isRestricted && !hasEnoughSettledUnits(drawn, carryOverUnits)
      ? []
      : [flagUnits(drawn, carryOverUnits)];
  };
  const generator = new RandomGenerator(`assignments ${seed}`);
  const real = flagUnits(assignment, carryOverUnits);
  const isExact = thrown.length <= EXACT_COINS_MAX;
  const listed = isExact
    ? listHeads(thrown.length).flatMap(describe)
    : [real, ...drawPlans(() => describe(throwCoins(thrown, generator)), draws)];
  const found = listed.findIndex((plan) => plan.every((flags, unit) => flags === real[unit]));
  const plans = groupPlans(found < 0 ? [real, ...listed] : listed, units);
  return { method: isExact ? 'exact' : 'draws', plans, realPlan: Math.max(0, found), real };
}

/** Every outcome of so many coins. */
function listHeads(coins: number): Uint8Array[] {
  return Array.from({ length: 2 ** coins }, (_, heads) =>
    Uint8Array.from({ length: coins }, (_coin, index) => (heads >> index) & 1),
  );
}

function drawPlans(draw: () => Uint8Array[], count: number): Uint8Array[] {
  const plans: Uint8Array[] = [];
  for (let tries = 0; plans.length < count && tries < TRIES_PER_DRAW * count; tries += 1)
    plans.push(...draw());
  return plans;
}

function flagUnits(assignment: Uint8Array, carryOverUnits: number): Uint8Array {
  const settled = findSettledUnits(assignment, carryOverUnits);
  const longer = findSettledUnits(assignment, carryOverUnits + 1);
  return assignment.map(
    (side, unit) => CANDIDATE * side + SETTLED * (settled[unit] ?? 0) + SETTLED_LONGER * (longer[unit] ?? 0),
  );
}
