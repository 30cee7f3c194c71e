import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useId } from 'react';
import type { BaselineCandidate } from '../progress/baseline.ts';
import styles from './summary-tab.module.css';

interface BaselineChooserProps {
  baseline: { id: string; name: string } | undefined;
  candidates: readonly BaselineCandidate[];
  /** Gets undefined for the default baseline. */
  onChoose: (id: string | undefined) => void;
}

/** The choice of the run that the indicators are compared with. */
export function BaselineChooser({ baseline, candidates, onChoose }: BaselineChooserProps) {
  const id = useId();
  if (!baseline && candidates.length === 0) return null;
  const isListed = candidates.some((one) => one.id === baseline?.id);
  return (
    <p className={styles.chooser}>
      <label htmlFor={id}>Baseline</label>
      <select
        id={id}
        value={baseline?.id ?? ''}
        onChange={({ target }) => onChoose(target.value === '' ? undefined : target.value)}
      >
        <option value="">{baseline ? 'Default' : 'None'}</option>
        {baseline && !isListed && <option value={baseline.id}>{formatRun(baseline)}</option>}
        {candidates.map((one) => (
          <option key={one.id} value={one.id}>
            {formatRun(one)}
          </option>
        ))}
      </select>
    </p>
  );
}

function formatRun({ id, name }: { id: string; name: string }): string {
  return name === '' ? id : `${escapeInvisible(name)} · ${id}`;
}
