/** Ids from names. */

/** Returns the id that a name suggests: lowercase letters, digits and hyphens. */
export function suggestId(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
}
