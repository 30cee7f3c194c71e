/** Columns that many tables have. */
import { formatAge } from './format-time.ts';

/** Returns a column with the time since that of the field. */
export function age<Name extends string>(name: Name) {
  return (row: { readonly [Key in Name]?: string | null | undefined }): string => {
    const time = row[name];
    return time ? formatAge(Date.parse(time), Date.now()) : 'never';
  };
}

/** Returns a column with a number. */
export function count<Name extends string>(name: Name) {
  return { value: (row: { readonly [Key in Name]: number }) => row[name], isNumeric: true };
}

/** The name of a resource, where it says more than the id. */
export function nameUnlessId({ id, name }: { readonly id: string; readonly name: string }): string {
  return name === id ? '' : name;
}
