import { distinguish, formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import { type PointerEvent, type ReactNode, useId, useRef, useState } from 'react';
import { useWidth } from '../charts/use-width.ts';
import { FigureTable } from '../figures/figure-table.tsx';
import { Picture } from '../figures/picture.tsx';
import type { ChartSeries } from './chart-series.ts';
import { layoutPlot, type PlotLayout, type PlotSpan } from './layout-plot.ts';
import styles from './series-chart.module.css';

const HUES = 8;
const HEIGHT_PX = 288;
const NARROW_HEIGHT_PX = 248;
const NARROW_PX = 420;
/** A chart beside others. */
const SMALL_HEIGHT_PX = 176;

interface SeriesChartProps extends PlotSpan {
  title: string;
  unit?: string;
  series: readonly ChartSeries[];
  /** The run goes on: what has not happened yet stands on a tinted ground. */
  isLive?: boolean;
  isSmall?: boolean;
  /** What the chart says, in words. */
  children?: ReactNode;
}

/** Series over time as a chart with a label at the end of each line, and as a table for those who do not see the chart. */
export function SeriesChart({
  title,
  unit = '',
  series,
  isSmall = false,
  children,
  ...span
}: SeriesChartProps) {
  const headingId = useId();
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const height = isSmall ? SMALL_HEIGHT_PX : width > 0 && width < NARROW_PX ? NARROW_HEIGHT_PX : HEIGHT_PX;
  const layout = width > 0 ? layoutPlot(series, span, { width, height }) : null;
  const words = [layout?.magnitude, unit].filter(Boolean).join(' ');
  return (
    <section aria-labelledby={headingId} className={styles.section}>
      <h2 id={headingId}>
        <bdi>{title}</bdi> {words !== '' && <span className={styles.unit}>{words}</span>}
      </h2>
      <div ref={frame} className={styles.frame} style={{ minHeight: height }}>
        {layout && (
          <Picture width={width} height={height} label={`Chart: ${title}`}>
            <Plot series={series} layout={layout} {...span} />
            <Readout series={series} layout={layout} width={width} />
          </Picture>
        )}
      </div>
      {children}
      <PointTable title={title} series={series} />
    </section>
  );
}

/** The colour of the series at the index. A bound and a control have no hue. */
const getColour = ({ role, hue }: ChartSeries, index: number): string =>
  role === undefined ? `var(--data-${(((hue ?? index + 1) - 1) % HUES) + 1})` : ROLE_COLOURS[role];

const ROLE_COLOURS = { own: 'var(--candidate)', control: 'var(--control)', bound: 'var(--ink)' } as const;

interface PlotProps {
  series: readonly ChartSeries[];
  layout: PlotLayout;
  until?: number | undefined;
  isLive?: boolean;
}

function Plot({ series, layout, until, isLive = false }: PlotProps) {
  const { left, right, bottom, x, lines } = layout;
  const clip = useId();
  const now = isLive && until !== undefined ? x(until) : undefined;
  return (
    <>
      <clipPath id={clip}>
        <rect x={left - 2} y="8" width={right - left + 8} height={bottom - 8} />
      </clipPath>
      {now !== undefined && (
        <rect className={styles.future} x={now} y="8" width={Math.max(0, right - now)} height={bottom - 8} />
      )}
      {layout.cut !== '' && (
        <text x={left + 12} y="6">
          {layout.cut}
        </text>
      )}
      {layout.yTicks.map(({ at, text }) => (
        <g key={text}>
          <line className={styles.grid} x1={left} x2={right} y1={at} y2={at} />
          <text className={styles.end} x={left - 8} y={at + 4}>
            {text}
          </text>
        </g>
      ))}
      <line className={styles.axis} x1={left} x2={right} y1={bottom} y2={bottom} />
      {layout.xTicks.map(({ at, text }) => (
        <g key={text}>
          <line className={styles.axis} x1={at} x2={at} y1={bottom} y2={bottom + 4} />
          <text className={styles.middle} x={at} y={bottom + 20}>
            {text}
          </text>
        </g>
      ))}
      {now !== undefined && <line className={styles.now} x1={now} x2={now} y1="8" y2={bottom} />}
      {lines.map(({ path, end, label, labelY, isBefore }, index) => {
        const one = series[index];
        if (!one) return null;
        const hasRing = now !== undefined && one.role === 'own';
        return (
          <g key={index} className={styles[one.role ?? 'equal']} style={{ color: getColour(one, index) }}>
            <path d={path} clipPath={`url(#${clip})`} />
            {one.role !== 'bound' && (
              <circle
                className={hasRing ? styles.head : styles.dot}
                cx={end[0]}
                cy={end[1]}
                r={hasRing ? 5.5 : 3}
              />
            )}
            <text
              className={isBefore ? styles.end : undefined}
              x={isBefore ? end[0] - 4 : end[0] + 10}
              y={labelY}
            >
              {label}
            </text>
          </g>
        );
      })}
    </>
  );
}

/** The values at the pointer. */
function Readout({
  series,
  layout,
  width,
}: {
  series: readonly ChartSeries[];
  layout: PlotLayout;
  width: number;
}) {
  const [at, setAt] = useState<number>();
  const { left, right, bottom, x } = layout;
  const move = ({ currentTarget, clientX }: PointerEvent<SVGRectElement>) => {
    const box = currentTarget.getBoundingClientRect();
    const share = (clientX - box.left) / box.width;
    setAt(left + share * (right - left));
  };
  const found =
    at === undefined ? [] : series.map(({ points }) => points.findLast((point) => x(point.x) <= at));
  const nearest = found.find((point) => point !== undefined);
  return (
    <>
      {at !== undefined && nearest && (
        <>
          <line className={styles.axis} x1={at} x2={at} y1="16" y2={bottom} />
          <text className={styles.readout} x={Math.min(Math.max(at, left), width - 200)} y="10">
            {found.flatMap((point, index) => (point ? [writePoint(point.y, series, index)] : [])).join(' · ')}
          </text>
        </>
      )}
      <rect
        className={styles.sensor}
        x={left}
        y="0"
        width={Math.max(0, right - left)}
        height={bottom}
        onPointerMove={move}
        onPointerLeave={() => setAt(undefined)}
      />
    </>
  );
}

function writePoint(value: number, series: readonly ChartSeries[], index: number): string {
  const one = series[index];
  const write = distinguish(one?.points.map(({ y }) => y) ?? [], one?.isRatio ? formatPercent : undefined);
  return series.length === 1 ? write(value) : `${one?.name ?? ''} ${write(value)}`;
}

/** The points as rows. A closed table has none: a live chart would build them again with every new point. */
function PointTable({ title, series }: { title: string; series: readonly ChartSeries[] }) {
  const [isOpen, setOpen] = useState(false);
  const time = series.every(({ isOverSeconds }) => isOverSeconds) ? 'Time, s' : 'x';
  return (
    <details className={styles.values} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Values as a table</summary>
      {isOpen && (
        <FigureTable
          label={`Values of ${title}`}
          table={{
            columns: ['Series', time, 'Value'],
            rows: series.flatMap(({ name, points }) =>
              points.map(({ x, y }) => ({ Series: name, [time]: x, Value: y })),
            ),
          }}
        />
      )}
    </details>
  );
}
