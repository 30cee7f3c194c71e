/** Returns true for a name without a visible character, under which nobody could find a view in a menu. */
export function isBlankViewName(name: string): boolean {
  return /^[\s\p{C}]*$/u.test(name);
}
