import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { listIndexes, useRowRange } from '../data-table/use-row-range.ts';
import { formatJson } from './json-text.ts';
import styles from './json-tree.module.css';
import { listInitiallyOpen, listTreeRows, type TreeRow } from './list-tree-rows.ts';

const ROW_HEIGHT_PX = 24;
const TEXT_MAX = 300;
/** Rows of levels below this are indented no further, so that deep values stay readable. */
const INDENTED_LEVELS_MAX = 12;

/** A JSON value as a tree. Arrow keys move, open and fold. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => listInitiallyOpen(value));
  const [selected, setSelected] = useState('[]');
  const rows = useMemo(() => listTreeRows(value, open), [value, open]);
  const scroller = useRef<HTMLDivElement>(null);
  const range = useRowRange({ count: rows.length, height: ROW_HEIGHT_PX, box: scroller });
  const setRowOpen = (row: TreeRow, isOpen: boolean) => {
    const next = new Set(open);
    if (isOpen) next.add(row.id);
    else next.delete(row.id);
    setOpen(next);
  };
  const select = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (!row) return;
    setSelected(row.id);
    scrollToRow(scroller.current, rows.indexOf(row));
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = findKeyAction(event.key, rows, selected);
    if (!action) return;
    event.preventDefault();
    if ('select' in action) select(action.select);
    else setRowOpen(action.row, action.isOpen);
  };
  return (
    <div
      ref={scroller}
      className={styles.scroll}
      role="tree"
      aria-label={label}
      aria-activedescendant={`tree-${selected}`}
      tabIndex={0}
      onKeyDown={handleKey}
    >
      <div role="none" style={{ height: rows.length * ROW_HEIGHT_PX, position: 'relative' }}>
        {listIndexes(range).map((index) => {
          const row = rows[index];
          return (
            row && (
              <Row
                key={row.id}
                row={row}
                top={index * ROW_HEIGHT_PX}
                isSelected={row.id === selected}
                onPress={() => {
                  setSelected(row.id);
                  if (row.entries !== undefined) setRowOpen(row, !row.isOpen);
                }}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/** Scrolls as little as shows the whole row. */
function scrollToRow(box: HTMLElement | null, index: number): void {
  if (!box) return;
  const top = index * ROW_HEIGHT_PX;
  box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + ROW_HEIGHT_PX - box.clientHeight));
}

/** The effect of a key: another row is selected, or a branch opens or folds. */
type KeyAction = { select: number } | { row: TreeRow; isOpen: boolean };

/** Returns the effect of a key by the tree pattern of ARIA, and undefined for other keys. */
function findKeyAction(key: string, rows: readonly TreeRow[], selected: string): KeyAction | undefined {
  const index = Math.max(
    0,
    rows.findIndex(({ id }) => id === selected),
  );
  const row = rows[index];
  if (!row) return undefined;
  const isFolded = row.entries !== undefined && !row.isOpen;
  const parent = rows.findLastIndex(({ level }, at) => at < index && level < row.level);
  const toggle = row.entries === undefined ? undefined : { row, isOpen: !row.isOpen };
  const actions = new Map<string, KeyAction | undefined>([
    ['ArrowDown', { select: index + 1 }],
    ['ArrowUp', { select: index - 1 }],
    ['Home', { select: 0 }],
    ['End', { select: rows.length - 1 }],
    ['ArrowRight', isFolded ? { row, isOpen: true } : { select: index + 1 }],
    ['ArrowLeft', row.isOpen ? { row, isOpen: false } : { select: parent }],
    ['Enter', toggle],
    [' ', toggle],
  ]);
  return actions.get(key);
}

/** One row. The tree has the focus and handles the keys, as the tree pattern of ARIA says. */
function Row({
  row,
  top,
  isSelected,
  onPress,
}: {
  row: TreeRow;
  top: number;
  isSelected: boolean;
  onPress: () => void;
}) {
  const indent = Math.min(row.level - 1, INDENTED_LEVELS_MAX);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around the rows handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the tree names its active row by aria-activedescendant.
    <div
      id={`tree-${row.id}`}
      role="treeitem"
      aria-level={row.level}
      aria-selected={isSelected}
      {...(row.entries !== undefined && { 'aria-expanded': row.isOpen })}
      className={styles.row}
      style={{ transform: `translateY(${top}px)`, paddingInlineStart: `${0.5 + indent * 1.1}rem` }}
      onClick={onPress}
    >
      <span className={styles.mark} aria-hidden="true">
        {row.entries === undefined ? '' : row.isOpen ? '▾' : '▸'}
      </span>
      {row.omitted ? (
        <span className="soft">… and {formatNumber(row.omitted)} more</span>
      ) : (
        <>
          {row.level > 1 && <bdi className={styles.name}>{escapeInvisible(row.name)}</bdi>}
          <Value row={row} />
        </>
      )}
    </div>
  );
}

function Value({ row }: { row: TreeRow }) {
  const { value, entries } = row;
  if (entries !== undefined) {
    const [unit, units] = Array.isArray(value) ? ['item', 'items'] : ['field', 'fields'];
    return (
      <span className="soft">
        {formatNumber(entries)} {entries === 1 ? unit : units}
      </span>
    );
  }
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, TEXT_MAX)) : formatJson(value);
  const isCut = typeof value === 'string' && value.length > TEXT_MAX;
  return (
    <bdi className={typeof value === 'string' ? styles.string : styles.constant}>
      {escapeInvisible(text)}
      {isCut && '…'}
    </bdi>
  );
}
