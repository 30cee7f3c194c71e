import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { describeError } from '../../client/client.ts';
import { Button, formatButtonClass } from '../../ui/button.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import styles from './compare-page.module.css';
import { type ComparedRun, nameRun } from './compare-runs.ts';
import { newestRunsQuery } from './queries.ts';
import { COMPARED_RUNS_MAX, COMPARED_RUNS_MIN } from './search.ts';

/** A run of the address: loaded, or with the reason why it is not, such as that it was deleted. */
interface ListedRun {
  id: string;
  run: ComparedRun | undefined;
  error: Error | null;
}

interface RunChooserProps {
  application: string;
  listed: readonly ListedRun[];
  /** Writes the ids of the runs into the address; the first is the baseline. */
  onChange: (ids: readonly string[]) => void;
}

/** The runs of the comparison with their letters, and what adds, replaces and removes them. */
export function RunChooser({ application, listed, onChange }: RunChooserProps) {
  const { data } = useQuery(newestRunsQuery(application));
  const ids = listed.map(({ id }) => id);
  const others = (data?.runs ?? []).filter((run) => !ids.includes(run.id));
  const choices = (
    <>
      <option value="" disabled>
        {others.length === 0 ? 'There is no other recent run' : 'Choose one of the newest runs'}
      </option>
      {others.map((run) => (
        <option key={run.id} value={run.id}>
          {`${run.name ? `${escapeInvisible(run.name)} · ` : ''}${run.id} · ${run.status_v2}`}
        </option>
      ))}
    </>
  );
  const choose = (label: string, icon: ReactNode, at: number, className = styles.choose) => (
    <label className={`${styles.over} ${className}`}>
      {icon}
      <select
        aria-label={label}
        value=""
        onChange={({ target }) => onChange([...ids.slice(0, at), target.value, ...ids.slice(at + 1)])}
      >
        {choices}
      </select>
    </label>
  );
  const isShort = ids.length < COMPARED_RUNS_MIN;
  const addRun = (className: string) =>
    choose(
      'Add a run',
      <>
        <Icon name="add" /> Add a run
      </>,
      ids.length,
      className,
    );
  const makeFirst = (id: string) => onChange([id, ...ids.filter((one) => one !== id)]);
  let letters = 0;
  return (
    <div className={styles.chooser}>
      <ul className={styles.chosen} aria-label="Compared runs">
        {listed.map(({ id, run, error }, index) => {
          const letter = run ? nameRun(letters++) : '–';
          return (
            <li key={id} style={{ ['--c' as string]: colourRun(run ? letters - 1 : -1) }}>
              <span className={styles.letter}>{letter}</span>
              <div>
                {run && (
                  <>
                    <RunLink application={application} run={id} title={escapeInvisible(run.name)}>
                      <bdi>{escapeInvisible(run.name) || id}</bdi>
                    </RunLink>
                    <p className="meta">
                      {letter === 'A' && 'baseline, '}
                      <bdi>
                        {[run.metadata.application_instance_id, run.metadata.application_version_id]
                          .filter(Boolean)
                          .join(' ')}
                      </bdi>
                      , <RelativeTime at={run.metadata.created_at} />
                    </p>
                  </>
                )}
                {error && <p role="alert">{describeError(error)}</p>}
                {!run && !error && <span className="bone" role="status" aria-label="Loading" />}
              </div>
              {choose(`Replace ${letter}`, <Icon name="choose" />, index)}
              <MoreMenu label={`Actions of ${letter} ${id}`}>
                {index > 0 && (
                  <Button kind="quiet" onPress={() => makeFirst(id)}>
                    Make baseline
                  </Button>
                )}
                <Button kind="quiet" onPress={() => onChange(ids.filter((one) => one !== id))}>
                  Remove
                </Button>
              </MoreMenu>
            </li>
          );
        })}
        {isShort && <li className={styles.slot}>{addRun(formatButtonClass('primary'))}</li>}
      </ul>
      {!isShort && (
        <div className="line">
          {ids.length === 2 && (
            <Button kind="quiet" onPress={() => onChange(ids.toReversed())}>
              Swap A and B
            </Button>
          )}
          {ids.length < COMPARED_RUNS_MAX && addRun(formatButtonClass('plain'))}
        </div>
      )}
    </div>
  );
}

/** Returns the colour of a run in every picture of the page: the baseline has that of a control. */
function colourRun(index: number): string {
  if (index === 0) return 'var(--control)';
  return index > 0 && index < COMPARED_RUNS_MAX - 1 ? `var(--data-${index})` : 'var(--soft)';
}
