/** Lists of the API, which are arrays or pages. */

/** Returns the items of the list. */
export function readItems<Item>(body: readonly Item[] | { items: readonly Item[] }): readonly Item[] {
  return 'items' in body ? body.items : body;
}
