import { Icon } from '@switchyard/design/icon.tsx';
import type { JudgedIndicator } from '../../client/indicator-meaning.ts';
import { SortMark } from '../../ui/data-table/data-table.tsx';
import { DropMenu } from '../../ui/menu.tsx';
import { findSortField, type RunColumn } from './columns.tsx';
import styles from './runs-page.module.css';

/** The order of the server, by its parameter: a field, with `-` before it for descending. */
interface SortState {
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
}

interface ColumnMenuProps extends SortState {
  column: RunColumn;
  objective: JudgedIndicator;
  /** Opens the filter of the column; absent for a column without one. */
  onFilter: (() => void) | undefined;
  onHide: () => void;
  /** Moves the column; undefined at an end. */
  onMoveLeft: (() => void) | undefined;
  onMoveRight: (() => void) | undefined;
}

/** The header of a column: it sorts, filters, moves and hides. */
export function ColumnMenu({ column, objective, ...props }: ColumnMenuProps) {
  const { sort, onSort, onFilter, onHide, onMoveLeft, onMoveRight } = props;
  const field = findSortField(column);
  return (
    <DropMenu
      from={column.kind === 'indicator' ? 'end' : 'start'}
      button={
        <>
          {column.label}
          <SortMark direction={field === undefined ? undefined : readDirection(sort, field)} />
          <Icon name="down" />
        </>
      }
      className={styles.header ?? ''}
    >
      {field !== undefined && (
        <Orders orders={listOrders(column, field, objective)} sort={sort} onSort={onSort} />
      )}
      {onFilter && (
        <button type="button" onClick={onFilter}>
          Filter …
        </button>
      )}
      {onMoveLeft && (
        <button type="button" onClick={onMoveLeft}>
          Move left
        </button>
      )}
      {onMoveRight && (
        <button type="button" onClick={onMoveRight}>
          Move right
        </button>
      )}
      <button type="button" onClick={onHide}>
        Hide column
      </button>
    </DropMenu>
  );
}

const NAME_ORDERS: readonly WordedOrder[] = [
  ['A to Z', 'name'],
  ['Z to A', '-name'],
  ['By status', 'status'],
];

/** The header of the first column, which has the status and the name and stays where it is. */
export function NameMenu({ sort, onSort, onFilter }: SortState & { onFilter: () => void }) {
  return (
    <DropMenu
      from="start"
      button={
        <>
          Run
          <SortMark direction={readDirection(sort, 'name') ?? readDirection(sort, 'status')} />
          <Icon name="down" />
        </>
      }
      className={styles.header ?? ''}
    >
      <Orders orders={NAME_ORDERS} sort={sort} onSort={onSort} />
      <button type="button" onClick={onFilter}>
        Filter by status …
      </button>
    </DropMenu>
  );
}

/** The orders in words. A press on the present one removes it. */
function Orders({ orders, sort, onSort }: SortState & { orders: readonly WordedOrder[] }) {
  return orders.map(([words, order]) => (
    <button
      key={order}
      type="button"
      aria-pressed={sort === order}
      onClick={() => onSort(sort === order ? undefined : order)}
    >
      {words}
    </button>
  ));
}

/** Returns the direction of the field in an order of the server; undefined when it sorts by another. */
export function readDirection(
  sort: string | undefined,
  field: string,
): 'ascending' | 'descending' | undefined {
  if (sort === field) return 'ascending';
  return sort === `-${field}` ? 'descending' : undefined;
}

type WordedOrder = [words: string, sort: string];

/** Returns the orders of a column in words. Those of the objective say what is better. */
function listOrders({ id, kind }: RunColumn, field: string, objective: JudgedIndicator): WordedOrder[] {
  const isObjective = kind === 'indicator' && id === `indicator:${objective.name}`;
  if (isObjective && objective.direction !== null) {
    const [best, worst] = objective.direction === 'minimize' ? [field, `-${field}`] : [`-${field}`, field];
    return [
      ['Best first', best],
      ['Worst first', worst],
    ];
  }
  if (id === 'created')
    return [
      ['Newest first', `-${field}`],
      ['Oldest first', field],
    ];
  const [up, down] = kind === 'fact' ? ['A to Z', 'Z to A'] : ['Smallest first', 'Largest first'];
  return [
    [up, field],
    [down, `-${field}`],
  ];
}
