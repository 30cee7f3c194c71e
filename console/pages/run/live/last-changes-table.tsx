import { describeChange } from '@switchyard/contract/presentation/format-change.ts';
import {
  distinguish,
  formatDuration,
  formatObjective,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useId } from 'react';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import table from '../../../ui/table.module.css';
import { useProgress } from '../progress/use-progress.ts';
import styles from '../summary/summary-tab.module.css';
import { listLastChanges } from './last-changes.ts';

const SECOND_MS = 1_000;

/** The numbers in the log of an active run, with what its last improvement changed. Nothing without such numbers. */
export function LastChangesTable({ run }: { run: RunInformation }) {
  const headingId = useId();
  const { series, improved } = useProgress(run);
  const changes = listLastChanges(series, improved);
  const at = improved.length > 1 ? improved.at(-1)?.[0] : undefined;
  if (changes.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>Indicators so far</h2>
      <div className={table.scroll}>
        <table className={table.table}>
          <TableHead
            texts={['Name']}
            numbers={[
              'Value',
              at === undefined
                ? 'Change'
                : `Last improvement, at ${formatDuration(SECOND_MS * Math.floor(at))}`,
            ]}
          />
          <tbody>
            {changes.map(({ name, value, before }) => (
              <tr key={name}>
                <td className={styles.value}>
                  <bdi>{name}</bdi>
                </td>
                <td className={`${table.number} ${styles.figure}`}>
                  {distinguish([value, before], formatObjective)(value)}
                </td>
                <td className={`${table.number} ${styles.change}`}>
                  {before === undefined ? '–' : before === value ? '=' : describeChange(before, value).signed}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
