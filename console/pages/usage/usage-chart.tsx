import type { CostRate, UsageRow } from '@switchyard/contract/account/usage.ts';
import { formatMeasure } from './format-measures.ts';
import { CHART_MEASURES, type ChartMeasure } from './search.ts';
import styles from './usage-page.module.css';

const DAY_MS = 24 * 60 * 60 * 1000;
const HEIGHT = 120;
/** Width of a day and of its bar, in units of the drawing, which stretches to the width of the page. */
const DAY_WIDTH = 10;
const BAR_WIDTH = 8;

interface ChartProps {
  /** First and last day of the range. */
  from: string;
  to: string;
  /** The usage of the days that have any. */
  rows: readonly UsageRow[];
  measure: ChartMeasure;
  rate: CostRate | null;
}

/** Returns every day of the range with its usage, which days without a run do not have. */
function listDays({ from, to, rows }: Pick<ChartProps, 'from' | 'to' | 'rows'>) {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
    return { day, row: byDay.get(day) };
  });
}

/** Returns the day in words, such as `1 Dec 2026`. */
const formatDay = (day: string): string =>
  new Date(day).toLocaleDateString('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** One bar for each day of the range. The table below has the same numbers for screen readers. */
export function UsageChart({ from, to, rows, measure, rate }: ChartProps) {
  const days = listDays({ from, to, rows });
  const highest = Math.max(...rows.map((row) => row[measure] ?? 0), 0);
  const highestRow = rows.find((row) => row[measure] === highest);
  const label = `${CHART_MEASURES[measure]} by day`;
  const [only, ...others] = rows;
  // A chart of one bar says nothing.
  if (only?.day !== undefined && others.length === 0)
    return <p className={`meta ${styles.chart}`}>All of it on {formatDay(only.day)}.</p>;
  return (
    <figure className={styles.chart}>
      <figcaption>
        {label}
        {highestRow && <span> up to {formatMeasure(highestRow, measure, rate)}</span>}
      </figcaption>
      <svg
        viewBox={`0 0 ${days.length * DAY_WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}, ${formatDay(from)} to ${formatDay(to)}`}
      >
        {days.map(({ day, row }, index) => {
          const height = highest === 0 ? 0 : (HEIGHT * (row?.[measure] ?? 0)) / highest;
          return (
            <g key={day}>
              <rect className={styles.hover} x={index * DAY_WIDTH} y={0} width={DAY_WIDTH} height={HEIGHT}>
                <title>
                  {row
                    ? `${formatDay(day)}: ${formatMeasure(row, measure, rate)}`
                    : `${formatDay(day)}: no run`}
                </title>
              </rect>
              <rect
                className={styles.bar}
                x={index * DAY_WIDTH + (DAY_WIDTH - BAR_WIDTH) / 2}
                y={HEIGHT - height}
                width={BAR_WIDTH}
                height={height}
              />
            </g>
          );
        })}
      </svg>
      <p className={styles.axis} aria-hidden="true">
        <span>{formatDay(from)}</span>
        <span>{formatDay(to)}</span>
      </p>
    </figure>
  );
}
