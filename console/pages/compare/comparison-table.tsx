import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import type { ReactNode } from 'react';
import { ChangeText } from '../../ui/resources/change-text.tsx';
import table from '../../ui/table.module.css';
import styles from './compare-page.module.css';
import {
  type ComparedChange,
  type ComparedGroup,
  type ComparedRow,
  type ComparedRun,
  nameRun,
} from './compare-runs.ts';

interface ComparisonTableProps {
  runs: readonly ComparedRun[];
  group: ComparedGroup;
  children?: ReactNode;
}

/** The rows of one group in the grid of all groups: one column for each run, and the change of two runs beside them. */
export function ComparisonTable({ runs, group, children }: ComparisonTableProps) {
  const isPair = runs.length === 2;
  return (
    <section aria-label={group.name} className={styles.group}>
      <div className={styles.head}>
        <h2>{group.name}</h2>
        {children}
      </div>
      {/* It scrolls, also by the arrow keys, when it is wider than the page. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard */}
      <section className={table.scroll} tabIndex={0} aria-label={`${group.name} of the runs`}>
        <table
          className={`${table.table} ${styles.grid}`}
          data-pair={isPair}
          style={{ ['--runs' as string]: runs.length }}
        >
          <thead>
            <tr>
              <th scope="col">{group.name === 'Results' ? 'Indicator' : 'Name'}</th>
              {runs.map((run, index) => (
                <th
                  scope="col"
                  key={run.id}
                  className={table.number}
                  title={escapeInvisible(run.name || run.id)}
                >
                  {nameRun(index)}
                </th>
              ))}
              {isPair && <td className={styles.bar} />}
              {isPair && (
                <th scope="col" className={table.number}>
                  Change
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {group.rows.map((row, index) => (
              <Row key={`${index} ${row.name}`} row={row} isPair={isPair} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Row({ row: { name, note, values, isEqual }, isPair }: { row: ComparedRow; isPair: boolean }) {
  const last = values.at(-1)?.change;
  return (
    <tr data-lead={note !== undefined || undefined} data-differs={!isEqual || undefined}>
      <th scope="row">
        <bdi>{name}</bdi>
        {note !== undefined && <span className={styles.note}>{note}</span>}
      </th>
      {values.map(({ text, exact, change, isBest }, index) => (
        <td key={index} className={table.number} data-best={isBest} title={exact}>
          {text === '' ? <NoValue /> : <bdi>{text}</bdi>}
          {isBest && <span className="visually-hidden"> best</span>}
          {!isPair && (change || isBest) && (
            <span className={styles.note}>
              {change && <ChangeText change={change} />} {isBest && 'best'}
            </span>
          )}
        </td>
      ))}
      {isPair && <td className={styles.bar}>{last && <ChangeBar change={last} />}</td>}
      {isPair && (
        <td className={`${table.number} ${styles.change}`}>{last && <ChangeText change={last} />}</td>
      )}
    </tr>
  );
}

function NoValue() {
  return (
    <>
      <span aria-hidden="true">–</span>
      <span className="visually-hidden">none</span>
    </>
  );
}

const BAR_MAX_SHARE = 0.13;
const BAR_PX = 116;

/** The change as a bar from the middle; one that is longer ends in an arrow. */
function ChangeBar({ change: { share, isLess, outcome } }: { change: ComparedChange }) {
  const length = Math.min(Math.abs(share) / BAR_MAX_SHARE, 1) * BAR_PX;
  const side = isLess ? -1 : 1;
  return (
    <svg viewBox="-130 0 260 12" data-outcome={outcome} aria-hidden="true">
      <path d="M0 0v12" className={styles.middle} />
      <path d={`M0 6h${side * length}`} />
      {length === BAR_PX && <path d={`M${side * 114} 1.5l${side * 9} 4.5l${side * -9} 4.5z`} />}
    </svg>
  );
}
