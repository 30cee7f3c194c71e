import type { RefusedRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import styles from '../experiment-page.module.css';

/** The copies that could not be created, with the reason of each. */
export function RefusedCopies({ copies }: { copies: readonly RefusedRun[] }) {
  if (copies.length === 0) return null;
  return (
    <section aria-label="Copies that could not be created" className={styles.section}>
      <h3>Copies that could not be created</h3>
      <TableRegion label="Copies with their reasons">
        <table className={table.table}>
          <TableHead texts={['Original', 'Reason']} />
          <tbody>
            {copies.map((copy, index) => (
              <tr key={index}>
                <td>{copy.input_id}</td>
                <td className={styles.error}>{copy.error}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}
