/** The plans that the coins of a design could have given: all of them, or many drawn ones with the real plan among them. */
import { RandomGenerator } from '../random-generator.ts';
import { assignUnits, type CoinGroup, findSettledUnits, throwCoins } from './design.ts';

/** Plans to compare the real one with. */
export interface ReferencePlans {
  method: 'exact' | 'draws';
  plans: readonly { assignment: Uint8Array; settled: Uint8Array }[];
}

/** Up to this number of coins every plan is listed. */
const EXACT_COINS_MAX = 13;
const DRAWS = 9_999;

/** The reference plans of a real assignment, which is the first when plans are drawn. */
export function listReferencePlans(
  coins: readonly CoinGroup[],
  real: Uint8Array,
  carryOverUnits: number,
  { seed, draws = DRAWS }: { seed: string; draws?: number },
): ReferencePlans {
  const describe = (assignment: Uint8Array) => ({
    assignment,
    settled: findSettledUnits(assignment, carryOverUnits),
  });
  if (coins.length <= EXACT_COINS_MAX)
    return {
      method: 'exact',
      plans: Array.from({ length: 2 ** coins.length }, (_, plan) =>
        describe(
          assignUnits(
            coins,
            coins.map((_coin, index) => (plan >> index) & 1),
            real.length,
          ),
        ),
      ),
    };
  const generator = new RandomGenerator(`assignments ${seed}`);
  const drawn = Array.from({ length: draws }, () =>
    describe(assignUnits(coins, throwCoins(coins, generator), real.length)),
  );
  return { method: 'draws', plans: [describe(real), ...drawn] };
}
