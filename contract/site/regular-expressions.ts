/**
 * The text as the part of a regular expression that matches exactly this text, with or without the flags `u` and `v`, in a
 * group or beside other parts, but not inside a class (`[…]`). With those flags a backslash before any other sign is a
 * syntax error; a hyphen therefore stays as it is. `RegExp.escape` would do, but browsers of 2024 do not have it.
 */
export function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
