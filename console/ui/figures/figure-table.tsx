import { formatNumber, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import tableStyles from '../table.module.css';

/** A longer table would slow the page down; the CSV file has all rows. */
const ROWS_MAX = 500;

/** A table of numbers and texts. */
export interface TableContent {
  columns: readonly string[];
  rows: readonly Record<string, string | number | null>[];
}

/** The numbers of a picture as a table. */
export function FigureTable({ label, table }: { label: string; table: TableContent }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <section className={tableStyles.scroll} tabIndex={0} aria-label={label}>
        <table className={tableStyles.table}>
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.slice(0, ROWS_MAX).map((row, index) => (
              <tr key={index}>
                {table.columns.map((column) => (
                  <Cell key={column} value={row[column] ?? null} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {table.rows.length > ROWS_MAX && (
        <p>
          The first {ROWS_MAX} of {table.rows.length} rows. The CSV file has all of them.
        </p>
      )}
    </>
  );
}

function Cell({ value }: { value: string | number | null }) {
  if (typeof value === 'number')
    return (
      <td className={tableStyles.number} title={formatNumber(value)}>
        {formatValue(value)}
      </td>
    );
  return (
    <td>
      <bdi>{value ?? '–'}</bdi>
    </td>
  );
}
