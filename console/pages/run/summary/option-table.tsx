import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useId } from 'react';
import table from '../../../ui/table.module.css';
import styles from './summary-tab.module.css';

type OptionSummary = RunInformation['metadata']['options']['options_summary'][number];

const SOURCES: Record<OptionSummary['source'], string> = {
  run: 'Set by the run',
  instance: 'Instance',
  version: 'Version or default',
};

/** The options passed to the app, each with the source of its value. Those that the run set are marked. */
export function OptionTable({ options }: { options: readonly OptionSummary[] }) {
  const headingId = useId();
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>Options</h2>
      {options.length === 0 ? (
        <p className={styles.empty}>The app got no options.</p>
      ) : (
        <div className={table.scroll}>
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Value</th>
                <th scope="col">From</th>
              </tr>
            </thead>
            <tbody>
              {options.map(({ name, value, source }) => (
                <tr key={name} className={source === 'run' ? styles.override : undefined}>
                  <td className={styles.value}>
                    <bdi>{name}</bdi>
                  </td>
                  <td className={styles.value}>
                    <bdi>{value}</bdi>
                  </td>
                  <td className={styles.source}>
                    <span className={source === 'run' ? styles.mark : undefined}>{SOURCES[source]}</span>
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
