/** Columns of tables, by their titles. */
import { formatAge } from '../../terminal/format-time.ts';
import type { Column } from '../../terminal/table.ts';

type Cell = string | number | null | undefined;
type CellName<Row> = { [Name in keyof Row]: Row[Name] extends Cell ? Name : never }[keyof Row];

/** By its title, each column is the name of a field, a function of the row, or a column with settings. */
export type Columns<Row> = Readonly<
  Record<string, CellName<Row> | ((row: Row) => Cell) | Omit<Column<Row>, 'title'>>
>;

/** Returns the columns as a table needs them. */
export function listColumns<Row>(columns: Columns<Row>): Column<Row>[] {
  return Object.entries(columns).map(([title, column]): Column<Row> => {
    if (typeof column === 'object') return { title, ...column };
    return { title, value: typeof column === 'function' ? column : (row) => toCell(row[column]) };
  });
}

const toCell = (value: unknown): Cell =>
  typeof value === 'string' || typeof value === 'number' ? value : null;

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
