/**
 * Returns a pattern that matches exactly this text, with or without the flags `u` and `v`. It is valid in a group or
 * beside other parts, but not inside a class (`[…]`). With those flags, a backslash before any other character is a
 * syntax error; a hyphen therefore stays unescaped. Browsers of 2024 do not have `RegExp.escape`.
 */
export function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
