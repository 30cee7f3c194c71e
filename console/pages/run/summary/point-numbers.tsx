import {
  distinguish,
  formatDuration,
  formatObjective,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { useId } from 'react';
import type { ChartSeries } from '../../../ui/series/chart-series.ts';
import styles from './run-charts.module.css';

const LISTED_POINTS = 3;
const SECOND_MS = 1_000;

/** The numbers of a series that is too short for a curve, or constant. */
export function PointNumbers({ title, series }: { title: string; series: ChartSeries }) {
  const headingId = useId();
  return (
    <section aria-labelledby={headingId} className={styles.numbers}>
      <h2 id={headingId}>
        <bdi>{title}</bdi>
      </h2>
      <p>{describePoints(series)}</p>
    </section>
  );
}

/** Returns the values in words: each of few, or the first and the last. */
function describePoints({ points, isOverSeconds, isRatio }: ChartSeries): string {
  const write = distinguish(
    points.map(({ y }) => y),
    isRatio ? formatPercent : formatObjective,
  );
  const writeX = (x: number): string =>
    isOverSeconds ? formatDuration(SECOND_MS * x) : `x = ${distinguish([x])(x)}`;
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return 'No value.';
  if (points.length > 1 && points.every(({ y }) => y === first.y)) return `${write(first.y)} all the time`;
  if (points.length <= LISTED_POINTS)
    return points.map(({ x, y }) => `${write(y)} after ${writeX(x)}`).join(', ');
  return `From ${write(first.y)} after ${writeX(first.x)} to ${write(last.y)} after ${writeX(last.x)}, ${points.length} values`;
}
