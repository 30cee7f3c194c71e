/** Returns the items of a list, which the server may have put into a page. */
export function listItems<T>(list: T[] | { items: T[] }): T[] {
  return Array.isArray(list) ? list : list.items;
}
