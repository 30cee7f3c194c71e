import type { BisectExperiment } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import { formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatEvidence } from '@switchyard/contract/presentation/format-quantity.ts';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import styles from '../experiment-page.module.css';

/** The steps of the search, in its order. */
export function StepTable({ search }: { search: Pick<BisectExperiment, 'steps' | 'difference'> }) {
  const { steps, difference } = search;
  if (steps.length === 0) return null;
  return (
    <section aria-label="Steps" className={styles.section}>
      <h3>Steps</h3>
      <TableRegion label="Steps of the search">
        <table className={table.table}>
          <TableHead
            texts={['Version', 'Decision']}
            numbers={['Effect', 'Rounds', 'Lost rounds', 'e-value']}
          />
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
                <td className={table.number}>{step.e_value === null ? '–' : formatEvidence(step.e_value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}
