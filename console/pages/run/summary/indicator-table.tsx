import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useId } from 'react';
import { formatNumber } from '../../../ui/format-quantity.ts';
import table from '../../../ui/table.module.css';
import styles from './summary-tab.module.css';

const EXAMPLE = '{"statistics": {"schema": "v1", "result": {"value": 1040.6}}}';

/** The indicators that the run reported, in the order of the app. */
export function IndicatorTable({ run }: { run: RunInformation }) {
  const headingId = useId();
  const { indicators } = run.statistics;
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>Indicators</h2>
      {indicators.length === 0 ? (
        <p className={styles.empty}>
          {isTerminal(run.status_v2)
            ? 'The output has none. An app reports them like this: '
            : 'They appear when the run has ended.'}
          {isTerminal(run.status_v2) && <code>{EXAMPLE}</code>}
        </p>
      ) : (
        <div className={table.scroll}>
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col" className={table.number}>
                  Value
                </th>
              </tr>
            </thead>
            <tbody>
              {indicators.map(({ name, value, source }) => (
                <tr key={`${source ?? ''} ${name}`}>
                  <td className={styles.value}>
                    <bdi>{name}</bdi>
                    {source !== undefined && <span className={styles.source}> · {source}</span>}
                  </td>
                  <td className={`${table.number} ${styles.value}`} title={String(value)}>
                    <bdi>{typeof value === 'number' ? formatNumber(value) : String(value)}</bdi>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
