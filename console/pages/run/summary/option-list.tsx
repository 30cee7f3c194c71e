import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { FactList, type Facts } from '../../../ui/facts.tsx';
import styles from './summary-tab.module.css';

type OptionSummary = RunInformation['metadata']['options']['options_summary'][number];

/** The options passed to the app. Those that neither the run nor its instance set are folded. */
export function OptionList({ options }: { options: readonly OptionSummary[] }) {
  const own = options.filter(({ source }) => source !== 'version');
  const others = options.filter(({ source }) => source === 'version');
  return (
    <section aria-labelledby="options">
      <h2 id="options">Options</h2>
      {options.length === 0 && <p className="soft">The app got no options.</p>}
      <FactList layout="rows" facts={own.map(toFact)} />
      {others.length > 0 && (
        <details className={styles.others}>
          <summary>{own.length > 0 ? `${others.length} more` : others.length}, from the version</summary>
          <FactList layout="rows" facts={others.map(toFact)} />
        </details>
      )}
    </section>
  );
}

function toFact({ name, value, source }: OptionSummary): Facts[number] {
  return [
    name,
    <span key={name}>
      {source === 'run' && <span className={styles.tag}>set by this run</span>} <bdi>{value}</bdi>
    </span>,
  ];
}
