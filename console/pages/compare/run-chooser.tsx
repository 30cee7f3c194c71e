import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { Button } from '../../ui/button.tsx';
import styles from './compare-page.module.css';
import type { ComparedRun } from './compare-runs.ts';
import { nameRuns } from './name-runs.ts';
import { newestRunsQuery } from './queries.ts';
import { COMPARED_RUNS_MAX } from './search.ts';

interface RunChooserProps {
  application: string;
  runs: readonly ComparedRun[];
  /** Writes the ids of the runs into the address; the first is the baseline. */
  onChange: (ids: readonly string[]) => void;
}

/** The runs of the comparison, with what adds and removes them and chooses the baseline. */
export function RunChooser({ application, runs, onChange }: RunChooserProps) {
  const id = useId();
  const { data } = useQuery(newestRunsQuery(application));
  const ids: string[] = runs.map((run) => run.id);
  const names = nameRuns(runs);
  const others = (data?.runs ?? []).filter((run) => !ids.includes(run.id));
  return (
    <div className={styles.chooser}>
      <ul className={styles.chosen} aria-label="Compared runs">
        {runs.map((run, index) => (
          <li key={run.id}>
            <bdi>{names[index]}</bdi>
            {index === 0 ? (
              <span className="meta">baseline</span>
            ) : (
              <Button kind="quiet" onPress={() => onChange([run.id, ...ids.filter((one) => one !== run.id)])}>
                Make baseline
              </Button>
            )}
            <Button
              kind="quiet"
              aria-label={`Remove ${names[index]}`}
              onPress={() => onChange(ids.filter((one) => one !== run.id))}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      {ids.length < COMPARED_RUNS_MAX && (
        <p className={styles.add}>
          <label htmlFor={id}>Add a run</label>
          <select id={id} value="" onChange={(event) => onChange([...ids, event.target.value])}>
            <option value="" disabled>
              {others.length === 0 ? 'There is no other recent run' : 'Choose one of the newest runs'}
            </option>
            {others.map((run) => (
              <option key={run.id} value={run.id}>
                {`${run.name ? `${escapeInvisible(run.name)} · ` : ''}${run.id} · ${run.status_v2}`}
              </option>
            ))}
          </select>
        </p>
      )}
    </div>
  );
}
