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

/** Plans to compare the real one with, over the units that have ended. */
export interface ReferencePlans {
  method: 'exact' | 'draws';
  /** The group of each unit in the real plan, by the flags below. */
  real: Uint8Array;
  count: number;
  /** The groups of all plans, plan after plan. */
  groups: Uint8Array;
}

/** Flags of a unit's group. */
export const CANDIDATE = 1;
export const SETTLED = 2;
/** Settled for at least one unit more than `carryOverUnits`. */
export const SETTLED_LONGER = 4;
export const GROUPS = 8;

/** Up to this number of coins every plan is listed. */
export const EXACT_COINS_MAX = 13;
export const DRAWS = 9_999;
/** Tries for each plan that is drawn; more than half of all plans of an accepted design have enough settled units. */
const TRIES_PER_DRAW = 4;

/**
 * Lists the reference plans of a real assignment, which is the first when plans are drawn.
 * @param real sides of the units that have ended; coins of later units have no effect.
 */
export function listReferencePlans(
  coins: readonly CoinGroup[],
  real: Uint8Array,
  carryOverUnits: number,
  { seed, draws = DRAWS }: { seed: string; draws?: number },
): ReferencePlans {
  const thrown = coins.filter(({ first, second }) =>
    [...first, ...second].some((unit) => unit < real.length),
  );
  const restricted = hasEnoughSettledUnits(real, carryOverUnits);
  const describe = (heads: ArrayLike<number>): Uint8Array[] => {
    const assignment = assignUnits(thrown, heads, real.length);
    return restricted && !hasEnoughSettledUnits(assignment, carryOverUnits)
      ? []
      : [groupUnits(assignment, carryOverUnits)];
  };
  const isExact = thrown.length <= EXACT_COINS_MAX;
  const plans = isExact ? listPlans(thrown, describe) : [groupUnits(real, carryOverUnits)];
  if (!isExact) {
    const generator = new RandomGenerator(`assignments ${seed}`);
    for (let tries = 0; plans.length <= draws && tries < TRIES_PER_DRAW * draws; tries += 1)
      plans.push(...describe(throwCoins(thrown, generator)));
  }
  const groups = new Uint8Array(plans.length * real.length);
  plans.forEach((plan, index) => {
    groups.set(plan, index * real.length);
  });
  return {
    method: isExact ? 'exact' : 'draws',
    real: groupUnits(real, carryOverUnits),
    count: plans.length,
    groups,
  };
}

function listPlans(
  coins: readonly CoinGroup[],
  describe: (heads: ArrayLike<number>) => Uint8Array[],
): Uint8Array[] {
  return Array.from({ length: 2 ** coins.length }, (_, plan) =>
    describe(coins.map((_coin, index) => (plan >> index) & 1)),
  ).flat();
}

function groupUnits(assignment: Uint8Array, carryOverUnits: number): Uint8Array {
  const settled = findSettledUnits(assignment, carryOverUnits);
  const longer = findSettledUnits(assignment, carryOverUnits + 1);
  return assignment.map(
    (side, unit) => CANDIDATE * side + SETTLED * (settled[unit] ?? 0) + SETTLED_LONGER * (longer[unit] ?? 0),
  );
}
