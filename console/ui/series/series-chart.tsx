import { formatNumber, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import { useEffect, useId, useRef, useState } from 'react';
import { useThemeVersion } from '../charts/theme-version.ts';
import table from '../table.module.css';
import { type ChartSeries, colourSeries } from './chart-series.ts';
import type { DrawnChart } from './draw-chart.ts';
import styles from './series-chart.module.css';

/** A longer table would slow the page down; the download of the output has all points. */
const TABLE_ROWS_MAX = 200;

/** Series over time as a chart, and as a table for those who do not see the chart. */
export function SeriesChart({ title, series }: { title: string; series: readonly ChartSeries[] }) {
  const headingId = useId();
  return (
    <section aria-labelledby={headingId} className={styles.section}>
      <h2 id={headingId}>{title}</h2>
      <Plot series={series} title={title} />
      <ul className={styles.legend}>
        {series.map(({ name, points, colour }, index) => (
          <li key={index}>
            <span
              className={styles.key}
              style={{ color: colourSeries({ colour }, index) }}
              aria-hidden="true"
            />
            <bdi>{name}</bdi> <span className={styles.last}>{formatValue(points.at(-1)?.y ?? 0)}</span>
          </li>
        ))}
      </ul>
      <PointTable series={series} />
    </section>
  );
}

function Plot({ series, title }: { series: readonly ChartSeries[]; title: string }) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<DrawnChart>(undefined);
  const latest = useRef(series);
  const theme = useThemeVersion();
  // New points change the drawn chart; other series need another one.
  const names = JSON.stringify(series.map(({ name, isRatio }) => [name, isRatio]));
  useEffect(() => {
    latest.current = series;
    chart.current?.setPoints(series);
  }, [series]);
  useEffect(() => {
    let isGone = false;
    void import('./draw-chart.ts').then(({ drawChart }) => {
      if (element.current && !isGone) chart.current = drawChart(element.current, latest.current);
    });
    return () => {
      isGone = true;
      chart.current?.remove();
      chart.current = undefined;
    };
  }, [names, theme]);
  return <div ref={element} className={styles.plot} role="img" aria-label={`Chart: ${title}`} />;
}

/** The points as rows. A closed table has none: a live chart would build them again with every new point. */
function PointTable({ series }: { series: readonly ChartSeries[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles.values} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Values as a table</summary>
      {isOpen && <PointRows series={series} />}
    </details>
  );
}

function PointRows({ series }: { series: readonly ChartSeries[] }) {
  const rows = series.flatMap(({ name, points }) => points.map((point) => ({ name, ...point })));
  const visible = rows.slice(0, TABLE_ROWS_MAX);
  return (
    <>
      <div className={table.scroll}>
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">Series</th>
              <th scope="col" className={table.number}>
                {series.every(({ isOverSeconds }) => isOverSeconds) ? 'Time, s' : 'x'}
              </th>
              <th scope="col" className={table.number}>
                Value
              </th>
            </tr>
          </thead>
          <tbody>
            {visible.map(({ name, x, y }, index) => (
              <tr key={index}>
                <td>
                  <bdi>{name}</bdi>
                </td>
                <td className={table.number}>{formatNumber(x)}</td>
                <td className={table.number}>{formatNumber(y)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > visible.length && (
        <p>
          The first {visible.length} of {formatNumber(rows.length)} points.
        </p>
      )}
    </>
  );
}
