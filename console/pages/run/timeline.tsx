import { formatBytes, formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { listPhases, type Phase } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import styles from './timeline.module.css';

const LANE_PX = 30;
const MARGIN_PX = 22;
/** A short phase is still seen. */
const SHARE_MIN = 0.03;
/** The switch from one rail to the next, which takes this width. */
const SWITCH_PX = 28;
/** Half the height of a bar across the rail. */
const BUFFER_PX = 7;
/** A label at the end of a rail needs so much of its width, in percent. */
const LABEL_SHARE = 70;

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
  const placed = placePhases(phases);
  return (
    <section className={styles.timeline} data-status={run.status_v2} aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      {phases.length > 1 && <Track phases={placed} run={run} />}
      <ol className={styles.phases}>
        {placed.map((phase, index) => (
          <li key={index} aria-current={phase.isCurrent ? 'step' : undefined}>
            <PhaseKey phase={phase} isMove={isMove(placed, index)} />
            <span>
              {namePhase(phase)}
              {phase.kind === 'running' && <Memory run={run} />}
            </span>{' '}
            <strong>{formatDuration(phase.duration)}</strong>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** A wait after a lost attempt is the way to the next one. */
const isMove = (phases: readonly Phase[], index: number): boolean => phases[index - 1]?.kind === 'lost';

/** The attempt that counts has a number where others were lost. */
function namePhase({ kind, name, lane, isCurrent }: PlacedPhase): string {
  if (kind !== 'running' || lane === 0) return name;
  return `Attempt ${lane + 1}${isCurrent ? ', running' : ''}`;
}

function Memory({ run: { metadata } }: { run: RunInformation }) {
  const { peak_memory_bytes: peak, limits } = metadata;
  if (peak === undefined) return null;
  return (
    <span className={styles.note}>
      peak {formatBytes(peak)}
      {limits && ` of ${formatBytes(limits.memory_bytes)}`}
    </span>
  );
}

function PhaseKey({ phase: { kind, isCurrent }, isMove }: { phase: Phase; isMove: boolean }) {
  return (
    <svg className={styles.key} width="20" height="20" aria-hidden="true">
      {kind === 'waiting' && !isMove && <circle className={styles.ring} cx="10" cy="10" r="4.5" />}
      {kind === 'waiting' && isMove && <path className={styles.switch} d="M1 15C10 15 10 5 19 5" />}
      {kind === 'lost' && <path className={styles.lost} d="M2 10H16" />}
      {kind === 'lost' && <path className={styles.buffer} d="M17 4v12" />}
      {kind === 'running' && (
        <path className={styles.running} data-current={isCurrent || undefined} d="M2 10H18" />
      )}
      {kind === 'storing' && <circle className={styles.stored} cx="10" cy="10" r="5" />}
    </svg>
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
    if (isMove(phases, index)) lane += 1;
    const from = at;
    at += (100 * (shares[index] ?? 0)) / whole;
    return { ...phase, from, to: at, lane };
  });
}

function Track({ phases, run }: { phases: readonly PlacedPhase[]; run: RunInformation }) {
  const lanes = (phases.at(-1)?.lane ?? 0) + 1;
  const margin = lanes > 1 ? MARGIN_PX : 10;
  const height = 2 * margin + (lanes - 1) * LANE_PX;
  const findY = (lane: number): number => height - margin - lane * LANE_PX;
  const last = phases.at(-1);
  return (
    <svg className={styles.track} width="100%" height={height} aria-hidden="true">
      {Array.from({ length: lanes }, (_, lane) => (
        <line key={lane} className={styles.rail} x1="0" x2="100%" y1={findY(lane)} y2={findY(lane)} />
      ))}
      {phases.map((phase, index) => (
        <PhaseLine key={index} phase={phase} y={findY(phase.lane)} isMove={isMove(phases, index)} />
      ))}
      {lanes > 1 &&
        phases.map((phase, index) => <AttemptLabel key={index} phase={phase} y={findY(phase.lane)} />)}
      <circle className={styles.ring} cx="5" cy={findY(0)} r="4.5" />
      {last && <EndMark status={run.status_v2} at={last.to} y={findY(last.lane)} />}
    </svg>
  );
}

/** A bar across the rail at the share of its width, for a loss. */
function Buffer({ at, y }: { at: number; y: number }) {
  return <line className={styles.buffer} x1={`${at}%`} x2={`${at}%`} y1={y - BUFFER_PX} y2={y + BUFFER_PX} />;
}

/** Where the run is: a ring while it is active, a dot at its end, and a buffer for a failure. */
function EndMark({ status, at, y }: { status: RunInformation['status_v2']; at: number; y: number }) {
  if (status === 'failed') return <Buffer at={at} y={y} />;
  return (
    <circle
      className={isTerminal(status) ? styles.end : styles.head}
      cx={`${Math.min(at, 98)}%`}
      cy={y}
      r="5"
    />
  );
}

function PhaseLine({
  phase: { kind, from, to, isCurrent },
  y,
  isMove,
}: {
  phase: PlacedPhase;
  y: number;
  isMove: boolean;
}) {
  return (
    <>
      <line
        className={styles[kind]}
        data-current={isCurrent || undefined}
        x1={`${from}%`}
        x2={`${to}%`}
        y1={y}
        y2={y}
      />
      {kind === 'lost' && <Buffer at={to} y={y} />}
      {isMove && (
        <svg x={`${from}%`} y={y} overflow="visible" aria-hidden="true">
          <path
            className={styles.switch}
            d={`M${-SWITCH_PX / 2} ${LANE_PX}C${SWITCH_PX / 3} ${LANE_PX} ${-SWITCH_PX / 6} 0 ${SWITCH_PX / 2} 0`}
          />
        </svg>
      )}
    </>
  );
}

/** The number of an attempt, below the rail of the first and above those of the others. */
function AttemptLabel({ phase: { kind, from, to, lane }, y }: { phase: PlacedPhase; y: number }) {
  if (kind !== 'lost' && kind !== 'running') return null;
  const isAtEnd = from > LABEL_SHARE;
  return (
    <text
      x={`${isAtEnd ? to : Math.max(from, 3)}%`}
      y={lane === 0 ? y + 18 : y - 10}
      textAnchor={isAtEnd ? 'end' : 'start'}
    >
      attempt {lane + 1}
    </text>
  );
}
