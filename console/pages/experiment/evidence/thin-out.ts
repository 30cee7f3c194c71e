/** More marks than pixels show nothing more, and slow the page down. */
const MARKS_MAX = 400;

/** Returns at most 400 evenly chosen items, with the first and the last. */
export function thinOut<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length <= MARKS_MAX) return items;
  return Array.from({ length: MARKS_MAX }, (_, index) => {
    const place = Math.round((index * (items.length - 1)) / (MARKS_MAX - 1));
    return items.slice(place, place + 1);
  }).flat();
}
