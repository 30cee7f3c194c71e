/** Parses columns of rows that are JSON. */
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import type { Static, TSchema } from 'typebox';

type Row<Key extends string, Column extends string, Text> = Readonly<
  Record<Key, string | number> & Record<Column, Text>
>;

/**
 * Returns a function that parses the column of a row; null for null. It throws a TypeError with table, column and key when the
 * value does not fit the schema. `key` is the column that identifies the row.
 */
export function parseColumn<Key extends string, Column extends string, T extends TSchema>(
  table: string,
  key: Key,
  column: Column,
  schema: T,
) {
  const parseJson = createJsonParser(schema);
  function parse(row: Row<Key, Column, string>): Static<T>;
  function parse(row: Row<Key, Column, string | null>): Static<T> | null;
  function parse(row: Row<Key, Column, string | null>): Static<T> | null {
    const json: string | null = row[column];
    return json === null ? null : parseJson(json, `${table}.${column} of ${key} ${row[key]}`);
  }
  return parse;
}
