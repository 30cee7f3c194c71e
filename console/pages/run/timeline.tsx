import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { listPhases, type Phase } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { PredictedStart } from '../../ui/resources/predicted-start.tsx';
import { WaitingFacts } from '../../ui/resources/waiting-facts.tsx';
import styles from './timeline.module.css';

const PHASE_STYLES: Record<Phase['kind'], string | undefined> = {
  waiting: styles.queued,
  lost: styles.lost,
  running: styles.running,
  storing: styles.storing,
};

/** A bar of the phases of a run with their durations, and the reason for waiting of a queued run. */
export function Timeline({ run }: { run: RunInformation }) {
  const { metadata } = run;
  // The server measures the duration of an active run, so a wrong clock of this browser does not matter.
  const phases = listPhases(metadata, Date.parse(metadata.created_at) + run.duration);
  if (phases.length === 0) return null;
  return (
    <section className={styles.timeline} aria-label="Timeline">
      <div className={styles.bar} aria-hidden="true">
        {phases.map(({ kind, duration, isCurrent }, index) => (
          <span
            key={index}
            className={PHASE_STYLES[kind]}
            data-current={isCurrent || undefined}
            style={{ flexGrow: Math.max(duration, 1) }}
          />
        ))}
      </div>
      <ol className={styles.phases}>
        {phases.map(({ kind, name, duration, isCurrent }, index) => (
          <li key={index} aria-current={isCurrent ? 'step' : undefined}>
            <span className={`${styles.key} ${PHASE_STYLES[kind]}`} aria-hidden="true" />
            {name} <strong>{formatDuration(duration)}</strong>
          </li>
        ))}
      </ol>
      {metadata.waiting && (
        <p className={styles.waiting}>
          <strong>Position {metadata.waiting.place}.</strong> {metadata.waiting.message}
          {metadata.waiting.predicted_start && (
            <>
              {' '}
              Predicted start: <PredictedStart range={metadata.waiting.predicted_start} />.
            </>
          )}
        </p>
      )}
      {metadata.waiting && <WaitingFacts waiting={metadata.waiting} />}
    </section>
  );
}
