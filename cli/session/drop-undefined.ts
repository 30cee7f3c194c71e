type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Returns the object without its undefined fields: the API refuses a field that is there without a value. */
export function dropUndefined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
