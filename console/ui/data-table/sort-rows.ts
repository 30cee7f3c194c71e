/** The order of the rows of a list that is in the browser whole. */

/** A column with its direction. */
export interface Order {
  column: string;
  direction: 'ascending' | 'descending';
}

/** Returns the order after a press on the header: ascending, descending, then that of the server. */
export function nextOrder(order: Order | undefined, column: string): Order | undefined {
  if (order?.column !== column) return { column, direction: 'ascending' };
  return order.direction === 'ascending' ? { column, direction: 'descending' } : undefined;
}

const words = new Intl.Collator('en-GB', { numeric: true });

/** Returns the rows in the order of a value. Rows without it come last in both directions. */
export function sortRows<Row>(
  rows: readonly Row[],
  read: (row: Row) => string | number | null | undefined,
  direction: Order['direction'],
): Row[] {
  const factor = direction === 'ascending' ? 1 : -1;
  return rows.toSorted((one, other) => {
    const [a, b] = [read(one), read(other)];
    if (a === null || a === undefined || b === null || b === undefined)
      return Number(a === null || a === undefined) - Number(b === null || b === undefined);
    if (typeof a === 'number' && typeof b === 'number') return (a - b) * factor;
    return words.compare(String(a), String(b)) * factor;
  });
}
