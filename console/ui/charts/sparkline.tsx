import styles from './sparkline.module.css';

const WIDTH = 96;
const HEIGHT = 20;
const MARGIN = 2;

/** Returns the points of a line through the values, which skips those that are missing. */
function buildPoints(values: readonly (number | undefined)[]): [x: number, y: number][] {
  const known = values.filter((value) => value !== undefined);
  const low = Math.min(...known);
  const span = Math.max(...known) - low || 1;
  const step = (WIDTH - 2 * MARGIN) / Math.max(values.length - 1, 1);
  return values.flatMap((value, index): [number, number][] =>
    value === undefined
      ? []
      : [[MARGIN + index * step, HEIGHT - MARGIN - ((value - low) / span) * (HEIGHT - 2 * MARGIN)]],
  );
}

/** A small line of values, oldest first. `label` says the same in words. */
export function Sparkline({ values, label }: { values: readonly (number | undefined)[]; label: string }) {
  const points = buildPoints(values);
  const last = points.at(-1);
  return (
    <svg
      className={styles.sparkline}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <polyline points={points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')} />
      {last && <circle cx={last[0]} cy={last[1]} r="2" />}
    </svg>
  );
}
