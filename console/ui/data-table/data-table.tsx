import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { type HTMLAttributes, type ReactNode, useRef, useState } from 'react';
import { useIsLost } from '../../client/connection.ts';
import styles from './data-table.module.css';
import { nextOrder, type Order, sortRows } from './sort-rows.ts';
import { useIsWide } from './use-is-wide.ts';
import { type RowSelection, useRowKeys } from './use-row-keys.ts';
import { useVisibleRows } from './use-visible-rows.ts';

/** A column of a list. */
export interface DataColumn<Row> {
  title: string;
  /** Distinguishes columns with the same title. */
  id?: string;
  /** Numbers stand right. Actions have no title, and stand at the end of a row or in the corner of a card. */
  kind?: 'number' | 'actions';
  /** The content of a cell; `–` for nothing, which a card leaves out. Text of apps and people needs `bdi` or `escapeInvisible`. */
  cell: (row: Row) => ReactNode;
  /** A second line below it. All columns of the list or none have it: rows are then 48 px high. */
  note?: (row: Row) => ReactNode;
  /** The whole text of a cell that may be cut. */
  hover?: (row: Row) => string | undefined;
  /** The value by which the browser sorts; without it the column cannot be sorted. */
  sortBy?: (row: Row) => string | number | null | undefined;
  /** Lets a tall row have two lines of the cell's text. */
  wraps?: boolean;
  /** Replaces the title in the header, such as a menu. */
  header?: ReactNode;
  /** The present order, of a list that the server sorts. */
  order?: Order['direction'] | undefined;
  /** In a card of a phone: without its title before it, without the whole cell, at the right of the name, or at the end of the line. */
  onPhone?: 'plain' | 'hidden' | 'beside' | 'end';
}

/** Returns a column of numbers of the rows, by which the browser sorts. */
export const createNumberColumn = <Row,>(
  title: string,
  read: (row: Row) => number,
  format: (value: number) => string = formatNumber,
): DataColumn<Row> => ({ title, kind: 'number', sortBy: read, cell: (row) => format(read(row)) });

interface DataTableProps<Row> {
  /** Names the table. */
  label: string;
  rows: readonly Row[];
  columns: readonly (DataColumn<Row> | false | null | undefined | '')[];
  /** Identifies a row; the default is its `id`. */
  keyOf?: (row: Row) => string;
  /** Lets the reader select rows: the list is a grid with a row that has the focus. */
  selection?: RowSelection<Row>;
  /** Marks a row, such as that of the signed-in person. */
  isCurrent?: (row: Row) => boolean;
  /** The sum of all rows, which stands below them. */
  total?: Row;
  /** Further attributes of a row, such as those of dragging. */
  rowProps?: (row: Row) => HTMLAttributes<HTMLTableRowElement>;
}

/**
 * The one list of the console: columns are data, the header stays in sight, rows are rendered where they are visible, and a
 * phone shows cards. The arrow keys move between rows.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows: given, selection, isCurrent, rowProps, total } = props;
  const keyOf = props.keyOf ?? readId;
  const columns = props.columns.filter((one) => typeof one === 'object' && one !== null);
  const [order, setOrder] = useState<Order>();
  const sorted = columns.find((column) => getId(column) === order?.column)?.sortBy;
  const rows = order && sorted ? sortRows(given, sorted, order.direction) : given;
  const main = columns.find(({ onPhone, kind }) => onPhone !== 'hidden' && kind === undefined);
  const element = useRef<HTMLTableElement>(null);
  const isLost = useIsLost();
  const isTall = columns.some(({ note }) => note);
  const isWide = useIsWide(element);
  const { indexes, before, after, focusRow, isVirtual } = useVisibleRows(element, rows.length, isTall);
  const keys = useRowKeys(rows, keyOf, selection, focusRow);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that is wider than the page scrolls by the arrow keys
    <section
      className={isWide ? styles.wide : styles.region}
      {...(isWide && { tabIndex: 0, 'aria-label': label })}
    >
      <table
        ref={element}
        className={[styles.table, isTall && styles.tall, isVirtual && styles.virtual]
          .filter(Boolean)
          .join(' ')}
        aria-label={label}
        {...(selection && { role: 'grid', 'aria-multiselectable': true })}
        {...(isVirtual && { 'aria-rowcount': rows.length + 1 })}
        onKeyDown={keys.handleKey}
      >
        <thead>
          <tr>
            {selection && <SelectAll rows={rows} keyOf={keyOf} selection={selection} />}
            {columns.map((column) => (
              <HeaderCell
                key={getId(column)}
                column={column}
                order={order}
                onSort={() => setOrder(nextOrder(order, getId(column)))}
              />
            ))}
          </tr>
        </thead>
        <Spacer height={before} />
        <tbody>
          {indexes.map((index) => {
            const row = rows[index];
            if (row === undefined) return null;
            const key = keyOf(row);
            return (
              <tr
                key={key}
                data-index={index}
                {...(isVirtual && { 'aria-rowindex': index + 2 })}
                {...(isCurrent?.(row) && { 'aria-current': true })}
                {...rowProps?.(row)}
                {...(selection && keys.describeRow(row, index))}
              >
                {selection && (
                  <td className={styles.check}>
                    <input
                      type="checkbox"
                      tabIndex={-1}
                      aria-label={`Select ${selection.nameOf(row)}`}
                      checked={selection.selected.has(key)}
                      onChange={() => keys.toggle(key)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <Cell key={getId(column)} {...{ column, row, isLost }} isMain={column === main} />
                ))}
              </tr>
            );
          })}
        </tbody>
        <Spacer height={after} />
        {total !== undefined && (
          <tfoot>
            <tr>
              {columns.map((column) => (
                <Cell key={getId(column)} {...{ column, isLost }} row={total} isMain={column === main} />
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

function readId(row: unknown): string {
  return typeof row === 'object' && row !== null && 'id' in row ? String(row.id) : String(row);
}

function getId({ id, title }: Pick<DataColumn<never>, 'id' | 'title'>): string {
  return id ?? title;
}

/** Returns the classes of a column's cells. */
function formatClass({
  kind,
  onPhone,
  wraps,
}: Pick<DataColumn<never>, 'kind' | 'onPhone' | 'wraps'>): string {
  return [kind && styles[kind], onPhone && styles[onPhone], wraps && styles.wraps].filter(Boolean).join(' ');
}

interface CellProps<Row> {
  column: DataColumn<Row>;
  row: Row;
  /** true for the column that names the row. */
  isMain: boolean;
  /** true while nothing can be done. */
  isLost: boolean;
}

function Cell<Row>({ column, row, isMain, isLost }: CellProps<Row>) {
  const { title, kind, onPhone, cell, note, hover } = column;
  const hasLabel = onPhone === undefined && kind !== 'actions' && !isMain;
  const content = cell(row);
  return (
    <td
      className={`${formatClass(column)} ${isMain ? styles.main : ''}`}
      title={hover?.(row)}
      {...(hasLabel && { 'data-title': title })}
      {...(content === '–' && { 'data-nothing': true })}
      inert={isLost && kind === 'actions'}
    >
      {content}
      {note && <div className={styles.note}>{note(row)}</div>}
    </td>
  );
}

interface HeaderCellProps<Row> {
  column: DataColumn<Row>;
  order: Order | undefined;
  onSort: () => void;
}

function HeaderCell<Row>({ column, order, onSort }: HeaderCellProps<Row>) {
  const { title, kind, header, sortBy } = column;
  if (kind === 'actions') return <td className={styles.actions} />;
  const direction = column.order ?? (order?.column === getId(column) ? order.direction : undefined);
  return (
    <th scope="col" className={formatClass(column)} aria-sort={direction}>
      {header ??
        (sortBy ? (
          <button type="button" onClick={onSort}>
            {title}
            <SortMark direction={direction} />
          </button>
        ) : (
          title
        ))}
    </th>
  );
}

/** The arrow of a sorted column. */
export function SortMark({ direction }: { direction: Order['direction'] | undefined }) {
  if (!direction) return null;
  return <span aria-hidden="true">{direction === 'ascending' ? ' ↑' : ' ↓'}</span>;
}

interface SelectAllProps<Row> {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selection: RowSelection<Row>;
}

function SelectAll<Row>({ rows, keyOf, selection: { label, selected, onSelect } }: SelectAllProps<Row>) {
  const isAll = rows.every((row) => selected.has(keyOf(row)));
  return (
    <th className={styles.check}>
      <input
        type="checkbox"
        aria-label={label}
        checked={isAll}
        onChange={() => onSelect(new Set(isAll ? [] : rows.map(keyOf)))}
      />
    </th>
  );
}

function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true" className={styles.spacer}>
      <tr>
        <td style={{ height }} />
      </tr>
    </tbody>
  );
}
