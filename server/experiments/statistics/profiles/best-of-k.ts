/** The gain from several runs of which the best counts: the expected best of k, and the contribution of each group. */

/**
 * Returns the expected best of k values drawn without replacement from the observed ones, for each k from 1 to their number.
 * It is the exact U-statistic, without resampling. There must be at least one value.
 */
export function computeExpectedBest(values: readonly number[], maximize = false): number[] {
  // Ascending for maximisation, so that the value at `rank` is the best of a draw when all others come from below.
  const ordered = [...values].sort((a, b) => (maximize ? a - b : b - a));
  const count = ordered.length;
  return Array.from({ length: count }, (_, index) => {
    const k = index + 1;
    // Probability that the value at `rank` is the best of k: C(rank, k - 1) / C(count, k), computed as a product.
    let probability = k / count;
    let expected = 0;
    for (let rank = count - 1; rank >= k - 1; rank -= 1) {
      expected += probability * (ordered[rank] ?? 0);
      probability *= rank === 0 ? 0 : (rank - k + 1) / rank;
    }
    return expected;
  });
}

/** A group of runs, with the best value of each of its runs' inputs. */
export interface GroupValues {
  group: string;
  /** Best value of the group for each input; null when all its runs failed. */
  best: ReadonlyMap<string, number | null>;
}

/** The exact Shapley value needs every subset of the groups. */
export const SHAPLEY_GROUPS_MAX = 12;

/**
 * Returns the share of each group in the gain of the ensemble. It is the Shapley value (1953) of the mean best value over
 * all inputs. An input that no group of a subset solved has the value in `fallback`, such as the worst observed one. Throws
 * a RangeError for more than `SHAPLEY_GROUPS_MAX` groups.
 */
export function computeShapleyContributions(
  groups: readonly GroupValues[],
  fallback: ReadonlyMap<string, number>,
  maximize = false,
): Map<string, number> {
  if (groups.length > SHAPLEY_GROUPS_MAX)
    throw new RangeError(
      `Contributions are computed for at most ${SHAPLEY_GROUPS_MAX} groups, not ${groups.length}.`,
    );
  const worth = Array.from({ length: 2 ** groups.length }, (_, subset) =>
    computeMeanBest(
      groups.filter((_group, index) => (subset >> index) & 1),
      fallback,
      maximize,
    ),
  );
  const factorial = (count: number): number => (count < 2 ? 1 : count * factorial(count - 1));
  return new Map(
    groups.map(({ group }, index) => {
      let value = 0;
      for (let subset = 0; subset < worth.length; subset += 1) {
        if ((subset >> index) & 1) continue;
        const size = countBits(subset);
        const weight = (factorial(size) * factorial(groups.length - size - 1)) / factorial(groups.length);
        value += weight * ((worth[subset | (1 << index)] ?? 0) - (worth[subset] ?? 0));
      }
      return [group, value];
    }),
  );
}

function countBits(subset: number): number {
  let bits = 0;
  for (let rest = subset; rest > 0; rest >>= 1) bits += rest & 1;
  return bits;
}

function computeMeanBest(
  groups: readonly GroupValues[],
  fallback: ReadonlyMap<string, number>,
  maximize: boolean,
): number {
  let total = 0;
  for (const [input, worst] of fallback) {
    const values = groups.map(({ best }) => best.get(input) ?? null).filter((value) => value !== null);
    total += values.length === 0 ? worst : maximize ? Math.max(...values) : Math.min(...values);
  }
  return fallback.size === 0 ? 0 : total / fallback.size;
}
