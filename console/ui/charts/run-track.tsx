import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import styles from './run-track.module.css';

const STEP = 8;
const HEIGHT = 12;
const MIDDLE = HEIGHT / 2;

/** The statuses of the drawing, in the words of its label. The rest waits. */
const WORDS: readonly (readonly [status: RunStatusV2, words: string])[] = [
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
  ['running', 'running'],
  ['queued', 'queued'],
];

interface RunTrackProps {
  /** Newest first. */
  runs: readonly { id: string; status_v2: RunStatusV2 }[];
  /** The number of runs for which the rail has a place. */
  places: number;
}

/** The latest runs on a rail, oldest first: a dot for each, a bar across the rail for a failed one, a ring for one that runs. */
export function RunTrack({ runs, places }: RunTrackProps) {
  const counts = WORDS.map(
    ([status, words]) => [runs.filter(({ status_v2 }) => status_v2 === status).length, words] as const,
  );
  const said = counts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
  const width = STEP * places;
  return (
    <svg
      className={styles.track}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={`Last runs: ${said.join(', ')}`}
    >
      <path className={styles.rail} d={`M0 ${MIDDLE}H${width}`} />
      {runs
        .slice(0, places)
        .toReversed()
        .map(({ id, status_v2 }, index) => {
          const x = STEP / 2 + index * STEP;
          if (status_v2 === 'failed')
            return <path key={id} className={styles.failed} d={`M${x} 0v${HEIGHT}`} />;
          return (
            <circle
              key={id}
              className={styles[status_v2]}
              cx={x}
              cy={MIDDLE}
              r={status_v2 === 'running' ? 3.5 : 2.5}
            />
          );
        })}
    </svg>
  );
}
