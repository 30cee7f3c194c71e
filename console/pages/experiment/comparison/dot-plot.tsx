import { type Effect, formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { buildScale, findExtent, listTicks, type Scale } from '@switchyard/contract/presentation/scales.ts';
import { Link } from '@tanstack/react-router';
import { VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import { moveFocus } from './move-focus.ts';
import { PairTable } from './pair-table.tsx';
import styles from './pictures.module.css';
import { thinOut } from './thin-out.ts';

const HEIGHT = 260;
const MARGIN = { top: 12, right: 12, bottom: 24, left: 64 };
const TICKS = 5;

/** Direction in which the indicator improves. */
type Objective = 'minimize' | 'maximize' | 'none';

export interface DotPlotProps {
  application: string;
  indicator: string;
  objective: Objective;
  effect: Effect;
  pairs: readonly InputPair[];
  /** One pair in words, such as `input`. */
  unit: string;
}

/** One dot for each input: the change of the candidate, sorted. Each dot opens the comparison of its two runs. */
export function DotPlot(props: DotPlotProps) {
  const { application, indicator, pairs, unit } = props;
  const valued = pairs.filter(({ change }) => change !== null);
  const failed = pairs.filter((pair) => pair.failed !== null);
  const visible = thinOut([...valued, ...failed]);
  const table = {
    columns: ['input', 'control', 'candidate', 'change', 'failed', 'control run', 'candidate run'],
    rows: pairs.map((pair) => ({
      input: pair.input,
      control: pair.control,
      candidate: pair.candidate,
      change: pair.change,
      failed: pair.failed,
      'control run': pair.runs.control,
      'candidate run': pair.runs.candidate,
    })),
  };
  const thinned = visible.length < pairs.length ? ` ${visible.length} of ${pairs.length} are visible.` : '';
  return (
    <Figure
      title={`Change of ${indicator} by ${unit}`}
      caption={`A dot is one ${unit}, sorted by change; a cross is one that only one side failed on. The line and the band are the estimate and its 95 % interval. A dot opens its pair of runs; arrow keys move between dots.${thinned}`}
      table={table}
      height={HEIGHT}
      details={
        <PairTable {...{ application, pairs, unit }} effect={props.effect} label={`Changes by ${unit}`} />
      }
    >
      {(width) => <Dots {...props} visible={visible} width={width} />}
    </Figure>
  );
}

function Dots({ visible, width, ...props }: DotPlotProps & { visible: readonly InputPair[]; width: number }) {
  const { effect, indicator, unit } = props;
  const [low, high] = findExtent([
    0,
    ...visible.flatMap(({ change }) => change ?? []),
    ...[effect.low, effect.high].filter((bound) => bound !== null),
  ]);
  const toY = buildScale([low, high], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const toX = buildScale([-0.5, visible.length - 0.5], [MARGIN.left, width - MARGIN.right]);
  const across = [MARGIN.left, width - MARGIN.right] as const;
  return (
    <Picture
      width={width}
      height={HEIGHT}
      label={`Change of ${indicator} on ${visible.length} ${unit}s, from ${formatChange(effect.measure, low)} to ${formatChange(effect.measure, high)}`}
      onKeyDown={moveFocus}
    >
      <VerticalAxis
        ticks={listTicks(low, high, TICKS)}
        scale={toY}
        format={(value, moreDigits) => formatChange(effect.measure, value, moreDigits)}
        across={across}
      />
      <EstimateBand effect={effect} toY={toY} across={across} />
      <line className={figure.zero} x1={across[0]} x2={across[1]} y1={toY(0)} y2={toY(0)} />
      {visible.map((pair, index) => (
        <Dot
          key={pair.input}
          {...props}
          pair={pair}
          isFirst={index === 0}
          x={toX(index)}
          y={pair.change === null ? toY(isWorseHigh(pair, props.objective) ? high : low) : toY(pair.change)}
        />
      ))}
      <text className={`${figure.note} ${figure.end}`} x={across[1]} y={HEIGHT - 4}>
        {`${visible.length} ${unit}s, sorted by change`}
      </text>
    </Picture>
  );
}

function EstimateBand({
  effect: { value, low, high },
  toY,
  across: [start, end],
}: {
  effect: Effect;
  toY: Scale;
  across: readonly [number, number];
}) {
  return (
    <>
      {low !== null && high !== null && (
        <rect
          className={styles.band}
          x={start}
          y={toY(high)}
          width={end - start}
          height={toY(low) - toY(high)}
        />
      )}
      {value !== null && (
        <line className={styles.typical} x1={start} x2={end} y1={toY(value)} y2={toY(value)} />
      )}
    </>
  );
}

/** Returns true if a failed candidate belongs at the top: there are the worst changes of a minimised indicator. */
function isWorseHigh({ failed }: InputPair, objective: Objective): boolean {
  return (failed === 'candidate') === (objective !== 'maximize');
}

type DotProps = DotPlotProps & { pair: InputPair; isFirst: boolean; x: number; y: number };

function Dot({ application, objective, effect, pair, unit, isFirst, x, y }: DotProps) {
  const text = describePair(pair, effect, unit);
  return (
    <Link
      to="/apps/$application/compare"
      params={{ application }}
      search={{ runs: `${pair.runs.control},${pair.runs.candidate}` }}
      className={`${styles.point} ${styles[findPairTone(pair, objective)]}`}
      aria-label={text}
      tabIndex={isFirst ? 0 : -1}
      preload={false}
    >
      <title>{text}</title>
      <circle className={styles.hit} cx={x} cy={y} r="8" />
      {pair.change === null ? (
        <path className={styles.cross} d={`M${x - 4} ${y - 4}l8 8m0 -8l-8 8`} />
      ) : (
        <circle className={styles.dot} cx={x} cy={y} r="4.5" />
      )}
    </Link>
  );
}

function describePair({ input, change, failed }: InputPair, { measure }: Effect, unit: string): string {
  if (change === null) return `${unit} ${input}: only the ${failed} failed`;
  return `${unit} ${input}: ${formatChange(measure, change)}`;
}

function findPairTone(
  { change, failed }: InputPair,
  objective: Objective,
): 'good' | 'bad' | 'open' | 'changed' {
  if (change === null) return failed === 'candidate' ? 'bad' : 'good';
  if (change === 0) return 'open';
  if (objective === 'none') return 'changed';
  return change < 0 === (objective === 'minimize') ? 'good' : 'bad';
}
