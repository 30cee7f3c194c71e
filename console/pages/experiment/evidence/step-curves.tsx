import { formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import {
  buildScale,
  findExtent,
  listTicks,
  type Scale,
  truncateLabel,
} from '@switchyard/contract/presentation/scales.ts';
import { HorizontalAxis, VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Picture } from '../../../ui/figures/picture.tsx';
import styles from './pictures.module.css';

export const STEP_CURVES_HEIGHT = 220;
const MARGIN = { top: 10, bottom: 40, left: 48 };
const TICKS_WIDTH = 56;
const LINE = 18;
const KEY_WIDTH = 28;

/** A function that rises in steps from 0 to at most 1. */
export interface StepCurve {
  name: string;
  points: readonly { x: number; share: number }[];
  kind: 'control' | 'candidate' | 'faint';
}

interface StepCurvesProps {
  curves: readonly StepCurve[];
  width: number;
  label: string;
  /** What the axis measures, with its unit. */
  axis: string;
}

const CLASSES = {
  control: `${styles.control} ${styles.dashed}`,
  candidate: `${styles.candidate}`,
  faint: `${styles.faint}`,
};

/** Step functions of several sides on the same axes. Control and candidate stand above the others. */
export function StepCurves({ curves, width, label, axis }: StepCurvesProps) {
  const named = curves.filter(({ kind }) => kind !== 'faint');
  const right = Math.min(
    Math.max(112, ...named.map(({ name }) => KEY_WIDTH + 7 * name.length)),
    0.36 * width,
  );
  const [low, high] = findExtent(curves.flatMap(({ points }) => points.map(({ x }) => x)));
  const end = high === low ? low + (Math.abs(low) || 1) * 0.1 : high + (high - low) * 0.04;
  const toX = buildScale([low, end], [MARGIN.left, width - right]);
  const toY = buildScale([0, 1], [STEP_CURVES_HEIGHT - MARGIN.bottom, MARGIN.top]);
  return (
    <Picture width={width} height={STEP_CURVES_HEIGHT} label={label}>
      <VerticalAxis
        ticks={[0, 0.25, 0.5, 0.75, 1]}
        scale={toY}
        format={formatPercent}
        across={[MARGIN.left, width - right]}
      />
      <HorizontalAxis
        ticks={listTicks(low, end, Math.max(4, (width - MARGIN.left - right) / TICKS_WIDTH))}
        scale={toX}
        across={[MARGIN.top, STEP_CURVES_HEIGHT - MARGIN.bottom]}
      />
      {[...curves.filter(({ kind }) => kind === 'faint'), ...named].map((curve) => (
        <g key={curve.name} className={CLASSES[curve.kind]}>
          <title>{curve.name}</title>
          <path className={styles.curve} d={buildSteps(curve, { toX, toY, low, end })} />
        </g>
      ))}
      <text className={`${figure.note} ${figure.end}`} x={width - right} y={STEP_CURVES_HEIGHT - 4}>
        {truncateLabel(axis, width - right - MARGIN.left)}
      </text>
      <Names curves={named} start={width - right} width={right - KEY_WIDTH} toY={toY} />
    </Picture>
  );
}

/** Returns the path of a step function, from the start to the end of the axis. */
function buildSteps(
  { points }: StepCurve,
  { toX, toY, low, end }: { toX: Scale; toY: Scale; low: number; end: number },
): string {
  const steps = points.map(({ x, share }) => `H${toX(x).toFixed(1)}V${toY(share).toFixed(1)}`);
  return `M${toX(low).toFixed(1)} ${toY(0).toFixed(1)}${steps.join('')}H${toX(end).toFixed(1)}`;
}

/** The names of the sides at the ends of their curves, the higher one first. */
function Names({
  curves,
  start,
  width,
  toY,
}: {
  curves: readonly StepCurve[];
  start: number;
  width: number;
  toY: Scale;
}) {
  const ends = curves
    .map((curve) => ({ ...curve, y: toY(curve.points.at(-1)?.share ?? 0) }))
    .toSorted((one, other) => one.y - other.y);
  let last = Number.NEGATIVE_INFINITY;
  return ends.map(({ name, kind, y }) => {
    last = Math.max(y, last + LINE);
    return (
      <g key={name} className={CLASSES[kind]}>
        <path className={styles.curve} d={`M${start + 8} ${last}h14`} />
        <text className={styles.name} x={start + KEY_WIDTH} y={last + 4}>
          {truncateLabel(name, width)}
        </text>
      </g>
    );
  });
}
