import { Meter as AriaMeter } from 'react-aria-components';
import styles from './meter.module.css';

interface MeterProps {
  /** Names the quantity for screen readers. */
  label: string;
  value: number;
  max: number;
  /** The value in words, such as `3 of 4`. */
  text: string;
  /** `bad` when the value has reached a limit. */
  tone?: 'plain' | 'bad';
}

/** A quantity as a bar with its value in words. A value above the maximum fills the bar. */
export function Meter({ label, value, max, text, tone = 'plain' }: MeterProps) {
  return (
    <AriaMeter
      className={styles.meter ?? ''}
      aria-label={label}
      value={Math.min(value, max)}
      maxValue={max}
      valueLabel={text}
    >
      {({ percentage }) => (
        <>
          <span className={styles.track}>
            <span className={`${styles.fill} ${styles[tone]}`} style={{ width: `${percentage}%` }} />
          </span>
          <span className={styles.text}>{text}</span>
        </>
      )}
    </AriaMeter>
  );
}
