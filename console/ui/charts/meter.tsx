import styles from './meter.module.css';

interface MeterProps {
  /** Names the quantity for screen readers. */
  label: string;
  value: number;
  max: number;
  /** The value in words, such as `3 of 4`. */
  text: string;
  /** `warning` when the value has reached a limit. */
  tone?: 'plain' | 'warning';
}

/** A quantity as a bar with its value in words. A value above the maximum fills the bar. */
export function Meter({ label, value, max, text, tone = 'plain' }: MeterProps) {
  const shown = Math.min(value, max);
  return (
    <div className={styles.meter}>
      <meter className="visually-hidden" aria-label={label} aria-valuetext={text} max={max} value={shown} />
      <span className={styles.track}>
        <span
          className={`${styles.fill} ${styles[tone]}`}
          style={{ width: `${max > 0 ? (100 * shown) / max : 0}%` }}
        />
      </span>
      <span className={styles.text} aria-hidden="true">
        {text}
      </span>
    </div>
  );
}
