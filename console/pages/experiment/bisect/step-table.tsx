import type { BisectExperiment } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import { formatNumber } from '../../../ui/format-quantity.ts';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import { formatChange } from '../comparison/effects.ts';
import styles from '../experiment-page.module.css';

const DIGITS = 3;

/** The steps of the search, in its order. */
export function StepTable({ search }: { search: Pick<BisectExperiment, 'steps' | 'difference'> }) {
  const { steps, difference } = search;
  if (steps.length === 0) return null;
  return (
    <section aria-label="Steps" className={styles.section}>
      <h3>Steps</h3>
      <TableRegion label="Steps of the search">
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Decision</th>
              {['Effect', 'Rounds', 'Lost rounds', 'e-value'].map((name) => (
                <th key={name} scope="col" className={table.number}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map((step) => (
              <tr key={step.version_id}>
                <td>
                  <bdi>{step.version_id}</bdi>
                </td>
                <td>{step.decision?.replace('_', ' ') ?? 'undecided'}</td>
                <td className={table.number}>
                  {step.effect === null ? '–' : formatChange(difference.type, step.effect)}
                </td>
                <td className={table.number}>{step.number_of_rounds}</td>
                <td className={table.number}>{step.number_of_lost_rounds}</td>
                <td className={table.number}>{formatNumber(Number(step.e_value.toPrecision(DIGITS)))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}
