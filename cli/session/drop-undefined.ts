/** Returns the object without its undefined fields: the API refuses a field that is there without a value. */
export function dropUndefined<T extends object>(
  fields: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return JSON.parse(JSON.stringify(fields));
}
