import { formatSize } from '@switchyard/contract/experiments/presentation/effects.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  buildScale,
  listTicks,
  type Scale,
  truncateLabel,
} from '@switchyard/contract/presentation/scales.ts';
import { HorizontalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import tableStyles from '../../../ui/table.module.css';
import pictures from '../comparison/pictures.module.css';
import { SearchLink } from '../search-link.tsx';
import type { NextLook } from './list-looks.ts';

const ROW = 44;
const BAR = 14;
const AXIS = 30;
const TICKS_WIDTH = 90;
const MARGIN = { left: 2, right: 24 };
/** A plan this many times as large as the smallest one would hide it. */
const FAR_FACTOR = 20;

interface NextLookPlotProps {
  looks: readonly NextLook[];
  /** Input, original or unit. */
  unit: string;
}

/** For each undecided indicator, the inputs that count so far and the estimated number that decides. */
export function NextLookPlot({ looks, unit }: NextLookPlotProps) {
  if (looks.length === 0) return null;
  const height = looks.length * ROW + AXIS;
  const title = `More ${unit}s for a decision`;
  const table = {
    columns: ['indicator', `${unit}s so far`, `more ${unit}s`, 'low', 'high', 'detectable difference'],
    rows: looks.map((look) => ({
      indicator: look.indicator,
      [`${unit}s so far`]: look.counted,
      [`more ${unit}s`]: look.more,
      low: look.range?.low ?? null,
      high: look.range?.high ?? null,
      'detectable difference': look.detectable,
    })),
  };
  return (
    <Figure
      title={title}
      caption={`The bar is the ${unit}s that count so far. The dot is the estimated number that decides, and the line its range. Another experiment on the same question is another look, and the error rates add up.`}
      table={table}
      height={height}
      details={<LookTable looks={looks} unit={unit} />}
    >
      {(width) => <Looks {...{ looks, width, height, title, unit }} />}
    </Figure>
  );
}

type LooksProps = NextLookPlotProps & { width: number; height: number; title: string };

function Looks({ looks, unit, width, height, title }: LooksProps) {
  const totals = looks.map(({ counted, more }) => counted + more);
  const limit = Math.min(...totals) * FAR_FACTOR;
  const reaches = looks.map(({ counted, range }) => counted + (range?.high ?? 0));
  const end = Math.min(Math.max(...totals, ...reaches), Math.max(limit, ...looks.map((one) => one.counted)));
  const scale = buildScale([0, end * 1.04], [MARGIN.left, width - MARGIN.right]);
  return (
    <Picture
      width={width}
      height={height}
      label={`${title}. ${looks.map((look) => `${look.indicator}: ${describeLook(look, unit)}`).join('. ')}`}
    >
      <HorizontalAxis
        ticks={listTicks(0, end, width / TICKS_WIDTH).filter(Number.isInteger)}
        scale={scale}
        across={[0, looks.length * ROW]}
      />
      {looks.map((look, index) => (
        <LookRow
          key={look.indicator}
          look={look}
          text={describeLook(look, unit)}
          {...{ scale, width }}
          y={index * ROW}
        />
      ))}
    </Picture>
  );
}

/** Returns the look in words, such as `12 inputs so far, about 40 more (25 to 90)`. */
function describeLook({ counted, more, range }: NextLook, unit: string): string {
  const high = range && (range.high === null ? 'more than 100,000' : formatNumber(range.high));
  const between = range === null ? '' : ` (${formatNumber(range.low)} to ${high})`;
  return `${formatNumber(counted)} ${unit}s so far, about ${formatNumber(more)} more${between}`;
}

interface LookRowProps {
  look: NextLook;
  text: string;
  scale: Scale;
  width: number;
  y: number;
}

/** An arrow stands where the range continues beyond the axis. */
function LookRow({ look: { indicator, counted, more, range }, text, scale, width, y }: LookRowProps) {
  const end = width - MARGIN.right;
  const middle = y + 22 + BAR / 2;
  const toX = (value: number): number => Math.min(scale(value), end);
  const high = range === null ? null : range.high === null ? Number.POSITIVE_INFINITY : counted + range.high;
  const isCut = Math.max(high ?? 0, counted + more) > 0 && scale(Math.max(high ?? 0, counted + more)) > end;
  return (
    <g className={pictures.changed}>
      <title>{escapeInvisible(`${indicator}: ${text}`)}</title>
      <text className={figure.label} x={0} y={y + 15}>
        {truncateLabel(`${indicator}: ${text}`, width)}
      </text>
      <rect
        className={pictures.part}
        x={scale(0)}
        y={y + 22}
        width={scale(counted) - scale(0)}
        height={BAR}
      />
      {range !== null && high !== null && (
        <line
          className={pictures.interval}
          x1={toX(counted + range.low)}
          x2={toX(high)}
          y1={middle}
          y2={middle}
        />
      )}
      {isCut && <path className={pictures.arrow} d={`M${end + 10} ${middle}l-9 -5v10z`} />}
      {scale(counted + more) <= end && (
        <circle className={pictures.estimate} cx={scale(counted + more)} cy={middle} r="5" />
      )}
    </g>
  );
}

function LookTable({ looks, unit }: NextLookPlotProps) {
  return (
    <TableRegion label={`More ${unit}s by indicator`}>
      <table className={tableStyles.table}>
        <TableHead texts={['Indicator']} numbers={['So far', 'More', 'Range', 'Detectable now']} />
        <tbody>
          {looks.map(({ indicator, counted, more, range, detectable, measure }) => (
            <tr key={indicator}>
              <td>
                <SearchLink changed={{ indicator }}>
                  <bdi>{indicator}</bdi>
                </SearchLink>
              </td>
              <td className={tableStyles.number}>{formatNumber(counted)}</td>
              <td className={tableStyles.number}>{formatNumber(more)}</td>
              <td className={tableStyles.number}>
                {range === null
                  ? '–'
                  : `${formatNumber(range.low)} to ${range.high === null ? '> 100,000' : formatNumber(range.high)}`}
              </td>
              <td className={tableStyles.number}>
                {detectable === null ? '–' : formatSize(measure, detectable)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
