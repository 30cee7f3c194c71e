/** The gain from several runs of which the best counts: the expected best of k. */

/** The best of k runs. */
export interface BestOfK {
  k: number;
  /** Expected best value of the draws in which a run succeeds. */
  expected: number;
  /** Share of the draws in which a run succeeds. */
  solved_share: number;
}

/**
 * Returns the expected best of k runs drawn without replacement from the observed ones, for each k from 1 to their number.
 * `failed` runs have no value. It is the exact U-statistic, without resampling. There must be at least one value.
 */
export function computeBestOfK(
  values: readonly number[],
  { maximize, failed = 0 }: { maximize: boolean; failed?: number },
): BestOfK[] {
  // Ascending for maximisation, so that the value at `rank` is the best of a draw when all others come from below it, where
  // the failed runs are too.
  const ordered = [...values].sort((a, b) => (maximize ? a - b : b - a));
  const count = ordered.length + failed;
  return Array.from({ length: count }, (_, index) => {
    const k = index + 1;
    // Probability that the value at `rank` is the best of k: C(rank, k - 1) / C(count, k), computed as a product.
    let probability = k / count;
    let [total, solved_share] = [0, 0];
    for (let rank = count - 1; rank >= Math.max(failed, k - 1); rank -= 1) {
      total += probability * (ordered[rank - failed] ?? 0);
      solved_share += probability;
      probability *= rank === 0 ? 0 : (rank - k + 1) / rank;
    }
    return { k, expected: total / solved_share, solved_share: Math.min(1, solved_share) };
  });
}
