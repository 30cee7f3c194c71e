import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useMemo, useState } from 'react';
import { Button } from '../button.tsx';
import table from '../table.module.css';
import styles from './data-table.module.css';
import { chooseTable, findTables, getCell, sortRows, type TableData } from './find-tables.ts';
import { formatCsv } from './format-csv.ts';
import { formatCell } from './json-text.ts';
import { saveFile } from './save-file.ts';

/** Rows that one press of "Show more" adds. */
const PAGE_ROWS = 200;

interface Order {
  column: string;
  direction: 'ascending' | 'descending';
}

/** The arrays of objects of a value as a table; a list chooses among several. `first` is the path of the first shown. */
export function DataTables({ value, fileName, first }: { value: unknown; fileName: string; first?: string }) {
  const tables = useMemo(() => findTables(value), [value]);
  const [path, setPath] = useState(first);
  const visible = tables.find((one) => one.path === path) ?? chooseTable(tables);
  if (!visible) return <p>There is no array of objects to show as a table.</p>;
  return (
    <div className={styles.tables}>
      <div className={styles.bar}>
        <label>
          Array{' '}
          <select value={visible.path} onChange={(event) => setPath(event.target.value)}>
            {tables.map((one) => (
              <option key={one.path} value={one.path}>
                {escapeInvisible(one.path)} ({formatNumber(one.rows.length)})
              </option>
            ))}
          </select>
        </label>
        <CsvButton data={visible} fileName={fileName} />
      </div>
      <DataTable key={visible.path} data={visible} />
    </div>
  );
}

/** One array of objects as a table. */
export function SingleTable({ data, fileName }: { data: TableData; fileName: string }) {
  return (
    <div className={styles.tables}>
      <DataTable data={data} />
      <div>
        <CsvButton data={data} fileName={fileName} />
      </div>
    </div>
  );
}

function CsvButton({ data, fileName }: { data: TableData; fileName: string }) {
  return (
    <Button onPress={() => saveFile(`${fileName}.csv`, formatCsv(data), 'text/csv;charset=utf-8')}>
      Download CSV
    </Button>
  );
}

/** A table that sorts by its headers. */
function DataTable({ data }: { data: TableData }) {
  const [order, setOrder] = useState<Order | null>(null);
  const [rowLimit, setRowLimit] = useState(PAGE_ROWS);
  const rows = useMemo(
    () => (order ? sortRows(data.rows, order.column, order.direction) : data.rows),
    [data.rows, order],
  );
  const numbers = useMemo(() => new Set(data.columns.filter((one) => isNumeric(data, one))), [data]);
  const sortBy = (column: string) =>
    setOrder({
      column,
      direction: order?.column === column && order.direction === 'ascending' ? 'descending' : 'ascending',
    });
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus for the arrow keys. */}
      <section className={styles.scroll} aria-label={`Rows of ${escapeInvisible(data.path)}`} tabIndex={0}>
        <table className={table.table}>
          <thead>
            <tr>
              {data.columns.map((column) => (
                <th key={column} {...(order?.column === column && { 'aria-sort': order.direction })}>
                  <button type="button" className={styles.sort} onClick={() => sortBy(column)}>
                    <bdi>{escapeInvisible(column)}</bdi>
                    <span aria-hidden="true">
                      {order?.column === column && (order.direction === 'ascending' ? '↑' : '↓')}
                    </span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, rowLimit).map((row, index) => (
              <tr key={index}>
                {data.columns.map((column) => (
                  <td key={column} className={numbers.has(column) ? table.number : undefined}>
                    <bdi>{formatCell(getCell(row, column))}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > rowLimit && (
        <p className="soft">
          {formatNumber(rowLimit)} of {formatNumber(rows.length)} rows{' '}
          <Button onPress={() => setRowLimit(rowLimit + PAGE_ROWS)}>Show more</Button>
        </p>
      )}
    </>
  );
}

function isNumeric({ rows }: TableData, column: string): boolean {
  return rows.slice(0, PAGE_ROWS).every((row) => {
    const value = getCell(row, column);
    return value === undefined || value === null || typeof value === 'number';
  });
}
