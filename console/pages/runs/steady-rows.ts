/** Keeps the rows that a reader looks at in their places while new runs arrive. Pure. */

/** The rows to show, and the number of new ones that they leave out. */
export interface SteadyRows<Row> {
  rows: readonly Row[];
  newCount: number;
}

/**
 * Returns the held rows with their latest values, and the rows of `latest` that follow them. A held row that is missing
 * between others was deleted or does not match any more, and is left out. One that is missing at the end has only moved
 * to a page that is not loaded.
 */
export function holdRows<Row extends { id: string }>(
  held: readonly Row[],
  latest: readonly Row[],
): SteadyRows<Row> {
  const heldIds = new Set(held.map(({ id }) => id));
  const latestById = new Map(latest.map((row) => [row.id, row]));
  const lastHeld = latest.findLastIndex(({ id }) => heldIds.has(id));
  const lastPresent = held.findLastIndex(({ id }) => latestById.has(id));
  const rows = held.flatMap((row, index) => {
    const updated = latestById.get(row.id);
    if (updated) return [updated];
    return index < lastPresent ? [] : [row];
  });
  const isNew = ({ id }: Row): boolean => !heldIds.has(id);
  if (lastHeld === -1) return { rows, newCount: latest.length };
  return {
    rows: [...rows, ...latest.slice(lastHeld + 1)],
    newCount: latest.slice(0, lastHeld).filter(isNew).length,
  };
}
