import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale } from '@switchyard/contract/presentation/scales.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useRef } from 'react';
import { useWidth } from '../../../ui/charts/use-width.ts';
import { useUsualTime } from '../progress/baseline.ts';
import { findLimit } from '../progress/find-limit.ts';
import { useElapsed } from '../progress/use-elapsed.ts';
import { useProgress } from '../progress/use-progress.ts';
import styles from './limit-rail.module.css';

const HEIGHT_PX = 56;
const RAIL_Y = 30;
const MARGIN_PX = 8;
/** Labels closer to the head than this would touch its own. */
const LABEL_PX = 96;
const SECOND_MS = 1_000;

/** The time limit of a run as a rail: the ring is now, ticks are improvements, a bar is the usual end, the buffer the limit. */
export function LimitRail({ run }: { run: RunInformation }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const elapsed = useElapsed(run);
  const limit = findLimit(run);
  const usual = useUsualTime(run);
  const { improved } = useProgress(run);
  if (elapsed === null || limit === undefined) return null;
  const x = buildScale([0, Math.max(limit.ms, elapsed)], [MARGIN_PX, Math.max(width, 160) - MARGIN_PX]);
  const [start, now, end] = [x(0), x(elapsed), x(limit.ms)];
  const text = `${formatSeconds(elapsed)} are used, ${limit.text}`;
  const usually =
    usual === undefined || usual >= limit.ms ? '' : `; it usually ends at ${formatDuration(usual)}`;
  const count = improved.length - 1;
  return (
    <div ref={frame} className={styles.limit}>
      <svg width="100%" height={HEIGHT_PX} role="img" aria-label={text + usually}>
        <line className={styles.rail} x1={start} x2={end} y1={RAIL_Y} y2={RAIL_Y} />
        <line className={styles.used} x1={start} x2={now} y1={RAIL_Y} y2={RAIL_Y} />
        {improved.slice(1).map(([seconds]) => (
          <line
            key={seconds}
            className={styles.tick}
            x1={x(SECOND_MS * seconds)}
            x2={x(SECOND_MS * seconds)}
            y1="19"
            y2="25"
          />
        ))}
        {count > 0 && (
          <text x={start} y="12">
            {count} {count === 1 ? 'improvement' : 'improvements'}
          </text>
        )}
        {usually !== '' && usual !== undefined && (
          <>
            <line className={styles.usual} x1={x(usual)} x2={x(usual)} y1="24" y2="36" />
            {x(usual) - start > 1.7 * LABEL_PX && end - x(usual) > LABEL_PX / 2 && (
              <text className={styles.middle} x={x(usual)} y="12">
                usual end {formatDuration(usual)}
              </text>
            )}
          </>
        )}
        <line className={styles.buffer} x1={end} x2={end} y1="22" y2="38" />
        <circle className={styles.pulse} cx={now} cy={RAIL_Y} r="6" />
        <circle className={styles.head} cx={now} cy={RAIL_Y} r="6" />
        {now - start > LABEL_PX && (
          <text x={start} y="52">
            0
          </text>
        )}
        {end - now > 1.4 * LABEL_PX && (
          <text className={styles.end} x={end} y="52">
            {limit.text}
          </text>
        )}
        <text
          className={`${styles.now} ${now - start < LABEL_PX / 2 ? '' : end - now < LABEL_PX ? styles.end : styles.middle}`}
          x={now - start < LABEL_PX / 2 ? start : end - now < LABEL_PX ? end : now}
          y="52"
        >
          {formatSeconds(elapsed)} now
        </text>
      </svg>
    </div>
  );
}

/** A running time moves once in a second. */
const formatSeconds = (ms: number): string => formatDuration(SECOND_MS * Math.floor(ms / SECOND_MS));
