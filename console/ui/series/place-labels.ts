/** Places labels beside the ends of lines. Pure. */

/** Returns the heights of the labels in the order given: as near to the wanted ones as a distance between them allows. */
export function placeLabels(
  wanted: readonly number[],
  distance: number,
  [top, bottom]: readonly [number, number],
): number[] {
  const order = wanted
    .map((_, index) => index)
    .toSorted((one, other) => (wanted[one] ?? 0) - (wanted[other] ?? 0));
  const placed = [...wanted];
  let last = top - distance;
  for (const index of order) {
    last = Math.max(wanted[index] ?? 0, last + distance);
    placed[index] = last;
  }
  let next = bottom + distance;
  for (const index of order.toReversed()) {
    next = Math.min(placed[index] ?? 0, next - distance);
    placed[index] = next;
  }
  return placed;
}
