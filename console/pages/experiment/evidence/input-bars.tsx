import { type Effect, formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import {
  type PairRating,
  type RatingRule,
  ratePair,
} from '@switchyard/contract/experiments/presentation/rate-pairs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { buildScale, findExtent, listTicks, type Scale } from '@switchyard/contract/presentation/scales.ts';
import { Link } from '@tanstack/react-router';
import type { KeyboardEvent } from 'react';
import { VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { Picture } from '../../../ui/figures/picture.tsx';
import styles from './pictures.module.css';

const HEIGHT = 220;
const MARGIN = { top: 8, bottom: 24, left: 56 };
const TICKS = 5;
const BAR_MAX = 14;

/** Blue is the candidate, red is worse, and grey is no difference that matters. */
const TONES: Record<PairRating, string | undefined> = {
  better: styles.candidate,
  lower: styles.candidate,
  higher: styles.candidate,
  worse: styles.bad,
  within: styles.control,
};

export interface InputBarsProps {
  application: string;
  /** The indicator as people call it. */
  label: string;
  objective: RatingRule['objective'];
  effect: Effect;
  pairs: readonly InputPair[];
  /** One pair in words, such as `input`. */
  unit: string;
}

/** One bar for each input: the change of the candidate, sorted. Each bar opens the comparison of its two runs. */
export function InputBars(props: InputBarsProps) {
  const { label, pairs, unit } = props;
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
  const all = valued.length + failed.length;
  if (failed.length === 0 && valued.every(({ change }) => change === 0))
    return (
      <p className="soft">
        {label} is the same on all {formatNumber(all)} {unit}s.
      </p>
    );
  const thinned = visible.length < all ? ` ${visible.length} of ${all} are visible.` : '';
  const crosses = failed.length > 0 ? ' A cross is one on which only one side failed.' : '';
  return (
    <Figure
      title={`Change on each ${unit}`}
      caption={`${label}. A bar opens its pair of runs; arrow keys move between them.${crosses}${thinned}`}
      table={table}
      height={HEIGHT}
    >
      {(width) => <Bars {...props} visible={visible} width={width} />}
    </Figure>
  );
}

function Bars({
  visible,
  width,
  ...props
}: InputBarsProps & { visible: readonly InputPair[]; width: number }) {
  const { effect, label, unit } = props;
  const { low: from, high: to } = effect.margin ?? { low: 0, high: 0 };
  const [low, high] = findExtent([0, from, to, ...visible.flatMap(({ change }) => change ?? [])]);
  const toY = buildScale([low, high], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const toX = buildScale([-0.5, visible.length - 0.5], [MARGIN.left, width]);
  const size = Math.max(1, Math.min(BAR_MAX, (toX(1) - toX(0)) * 0.66));
  const across = [MARGIN.left, width] as const;
  return (
    <Picture
      width={width}
      height={HEIGHT}
      label={`Change of ${label} on ${visible.length} ${unit}s, from ${formatChange(effect.measure, low)} to ${formatChange(effect.measure, high)}`}
      onKeyDown={moveFocus}
    >
      <rect
        className={figure.margin}
        x={across[0]}
        y={toY(to)}
        width={width - across[0]}
        height={toY(from) - toY(to)}
      />
      <VerticalAxis
        ticks={listTicks(low, high, TICKS)}
        scale={toY}
        format={(value, moreDigits) => formatChange(effect.measure, value, moreDigits)}
        across={across}
      />
      <line className={figure.zero} x1={across[0]} x2={across[1]} y1={toY(0)} y2={toY(0)} />
      {visible.map((pair, index) => (
        <Bar
          key={pair.input}
          {...props}
          {...{ pair, toY, size }}
          isFirst={index === 0}
          x={toX(index)}
          y={toY(pair.change ?? (isWorseHigh(pair, props.objective) ? high : low))}
        />
      ))}
      <text className={`${figure.note} ${figure.end}`} x={across[1]} y={HEIGHT - 4}>
        {`${visible.length} ${unit}s, sorted by change`}
      </text>
    </Picture>
  );
}

/** Returns true if a failed candidate belongs at the top: there are the worst changes of a minimised indicator. */
function isWorseHigh({ failed }: InputPair, objective: RatingRule['objective']): boolean {
  return (failed === 'candidate') === (objective !== 'maximize');
}

type BarProps = InputBarsProps & {
  pair: InputPair;
  isFirst: boolean;
  x: number;
  y: number;
  size: number;
  toY: Scale;
};

function Bar({ application, objective, effect, pair, unit, isFirst, x, y, size, toY }: BarProps) {
  const text = describePair(pair, effect, unit);
  const top = Math.min(y, toY(0));
  const height = Math.max(Math.abs(y - toY(0)), 2);
  const hit = Math.max(size, 4);
  return (
    <Link
      to="/apps/$application/compare"
      params={{ application }}
      search={{ runs: `${pair.runs.control},${pair.runs.candidate}` }}
      className={`${styles.point} ${TONES[ratePair(pair, { objective, effect }) ?? 'within']}`}
      aria-label={text}
      tabIndex={isFirst ? 0 : -1}
      preload={false}
    >
      <title>{text}</title>
      <rect className={styles.hit} x={x - hit / 2} y={top - 4} width={hit} height={height + 8} />
      {pair.change === null ? (
        <path className={styles.cross} d={`M${x - 4} ${y - 4}l8 8m0 -8l-8 8`} />
      ) : (
        <rect className={styles.solid} x={x - size / 2} y={top} width={size} height={height} />
      )}
    </Link>
  );
}

function describePair({ input, change, failed }: InputPair, { measure }: Effect, unit: string): string {
  if (change === null) return `${unit} ${input}: only the ${failed} failed`;
  return `${unit} ${input}: ${formatChange(measure, change)}`;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Moves the focus to the next or previous link of a picture. */
function moveFocus(event: KeyboardEvent<SVGSVGElement>): void {
  const step = STEPS[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll('a')];
  const index = links.findIndex((link) => link.matches(':focus'));
  const next = links[index + step];
  if (index === -1 || !next) return;
  event.preventDefault();
  next.focus();
}

/** More marks than pixels show nothing more, and slow the page down. */
const MARKS_MAX = 400;

/** Returns at most 400 evenly chosen items, with the first and the last. */
function thinOut<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length <= MARKS_MAX) return items;
  return Array.from({ length: MARKS_MAX }, (_, index) => {
    const place = Math.round((index * (items.length - 1)) / (MARKS_MAX - 1));
    return items.slice(place, place + 1);
  }).flat();
}
