import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { listPhases, type Phase } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import styles from './timeline.module.css';

const LANE_PX = 26;
const MARGIN_PX = 10;
/** A short phase is still seen. */
const SHARE_MIN = 0.03;
/** The switch from one rail to the next, which takes this width. */
const SWITCH_PX = 22;

/** A phase at its place on the track, in percent of its width. */
interface PlacedPhase extends Phase {
  from: number;
  to: number;
  /** Each attempt has a rail of its own, the first one at the bottom. */
  lane: number;
}

/** The phases of a run as a track with a rail for each attempt, and as a list with their durations. */
export function Timeline({ run }: { run: RunInformation }) {
  const { metadata } = run;
  // The server measures the duration of an active run, so a wrong clock of this browser does not matter.
  const phases = listPhases(metadata, Date.parse(metadata.created_at) + run.duration);
  if (phases.length === 0) return null;
  return (
    <section className={styles.timeline} aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <Track phases={placePhases(phases)} run={run} />
      <ol className={styles.phases}>
        {phases.map(({ kind, name, duration, isCurrent }, index) => (
          <li key={index} aria-current={isCurrent ? 'step' : undefined}>
            <svg className={styles.key} width="16" height="12" aria-hidden="true">
              <path className={styles[kind]} d="M1 6H15" />
              {kind === 'lost' && <path className={styles.buffer} d="M15 1v10" />}
            </svg>
            {name} <strong>{formatDuration(duration)}</strong>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Gives each phase its share of the width, and its lane: a wait after a lost attempt leads to the next one. */
function placePhases(phases: readonly Phase[]): PlacedPhase[] {
  const total = phases.reduce((sum, { duration }) => sum + duration, 0) || 1;
  const shares = phases.map(({ duration }) => Math.max(duration / total, SHARE_MIN));
  const whole = shares.reduce((sum, share) => sum + share, 0);
  let at = 0;
  let lane = 0;
  return phases.map((phase, index) => {
    if (index > 0 && phases[index - 1]?.kind === 'lost') lane += 1;
    const from = at;
    at += (100 * (shares[index] ?? 0)) / whole;
    return { ...phase, from, to: at, lane };
  });
}

function Track({ phases, run }: { phases: readonly PlacedPhase[]; run: RunInformation }) {
  const lanes = (phases.at(-1)?.lane ?? 0) + 1;
  const height = 2 * MARGIN_PX + (lanes - 1) * LANE_PX;
  const findY = (lane: number): number => height - MARGIN_PX - lane * LANE_PX;
  const last = phases.at(-1);
  return (
    <svg className={styles.track} width="100%" height={height} aria-hidden="true">
      {Array.from({ length: lanes }, (_, lane) => (
        <line key={lane} className={styles.rail} x1="0" x2="100%" y1={findY(lane)} y2={findY(lane)} />
      ))}
      {phases.map(({ kind, from, to, lane, isCurrent }, index) => (
        <g key={index}>
          <line
            className={styles[kind]}
            data-current={isCurrent || undefined}
            x1={`${from}%`}
            x2={`${to}%`}
            y1={findY(lane)}
            y2={findY(lane)}
          />
          {kind === 'lost' && (
            <line
              className={styles.buffer}
              x1={`${to}%`}
              x2={`${to}%`}
              y1={findY(lane) - 6}
              y2={findY(lane) + 6}
            />
          )}
          {index > 0 && phases[index - 1]?.kind === 'lost' && (
            <svg x={`${from}%`} y={findY(lane)} overflow="visible" aria-hidden="true">
              <path
                className={styles.switch}
                d={`M0 ${LANE_PX}C${SWITCH_PX / 2} ${LANE_PX} ${SWITCH_PX / 2} 0 ${SWITCH_PX} 0`}
              />
            </svg>
          )}
        </g>
      ))}
      {last && (
        <circle
          className={isTerminal(run.status_v2) ? styles.end : styles.head}
          data-status={run.status_v2}
          cx={`${Math.min(last.to, 98)}%`}
          cy={findY(last.lane)}
          r="5"
        />
      )}
    </svg>
  );
}
