import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import { HorizontalAxis, VerticalAxis } from '../../../ui/figures/axis.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Figure } from '../../../ui/figures/figure.tsx';
import { buildScale, findExtent, listTicks, type Scale, truncateLabel } from '../../../ui/figures/scales.ts';
import { formatNumber } from '../../../ui/format-quantity.ts';
import { type Group, isSameGroup } from './group-labels.ts';
import styles from './pictures.module.css';

const HEIGHT = 260;
const MARGIN = { top: 10, right: 16, bottom: 58, left: 56 };
const TICKS_WIDTH = 90;

interface ProfilePlotProps {
  profile: IndicatorProfile;
  control: Group;
  candidate: Group;
  nameGroup: (group: Group) => string;
}

interface Curve {
  name: string;
  points: readonly { x: number; share: number }[];
  kind: 'control' | 'candidate' | 'faint';
}

/** Performance profiles of all groups; without a direction, distribution functions. */
export function ProfilePlot({ profile, control, candidate, nameGroup }: ProfilePlotProps) {
  const hasProfiles = profile.groups.every(({ performance }) => performance !== null);
  const curves: Curve[] = profile.groups.map((group) => ({
    name: nameGroup(group),
    points: (hasProfiles ? group.performance : group.distribution) ?? [],
    kind: isSameGroup(group, control) ? 'control' : isSameGroup(group, candidate) ? 'candidate' : 'faint',
  }));
  const what = hasProfiles ? 'Performance profile' : 'Distribution';
  const table = {
    columns: ['group', hasProfiles ? 'ratio to the best' : profile.indicator, 'share of inputs'],
    rows: curves.flatMap(({ name, points }) =>
      points.map(({ x, share }) => ({
        group: name,
        [hasProfiles ? 'ratio to the best' : profile.indicator]: x,
        'share of inputs': share,
      })),
    ),
  };
  return (
    <Figure
      title={`${what} of ${profile.indicator}`}
      caption={
        hasProfiles
          ? 'Share of inputs on which a side is at most x times as bad as the best of all sides. A higher curve is better.'
          : 'Share of inputs whose value is at most x.'
      }
      table={table}
      height={HEIGHT}
    >
      {(width) => (
        <Curves
          curves={curves}
          width={width}
          label={`${what} of ${profile.indicator}: ${curves.map(({ name }) => name).join(', ')}`}
          axis={hasProfiles ? 'times the best value' : profile.indicator}
        />
      )}
    </Figure>
  );
}

interface CurvesProps {
  curves: readonly Curve[];
  width: number;
  label: string;
  axis: string;
}

const CLASSES = {
  control: `${styles.control} ${styles.dashed}`,
  candidate: `${styles.candidate}`,
  faint: `${styles.faint}`,
};

function Curves({ curves, width, label, axis }: CurvesProps) {
  const [low, high] = findExtent(curves.flatMap(({ points }) => points.map(({ x }) => x)));
  const end = high === low ? low + (Math.abs(low) || 1) * 0.1 : high + (high - low) * 0.04;
  const toX = buildScale([low, end], [MARGIN.left, width - MARGIN.right]);
  const toY = buildScale([0, 1], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const bottom = HEIGHT - MARGIN.bottom;
  const named = curves.filter(({ kind }) => kind !== 'faint');
  return (
    <svg
      className={figure.picture}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <VerticalAxis
        ticks={[0, 0.25, 0.5, 0.75, 1]}
        scale={toY}
        format={(share) => `${share * 100} %`}
        across={[MARGIN.left, width - MARGIN.right]}
      />
      <HorizontalAxis
        ticks={listTicks(low, end, (width - MARGIN.left) / TICKS_WIDTH)}
        scale={toX}
        format={formatNumber}
        across={[MARGIN.top, bottom]}
      />
      {/* The two sides that are compared stand above the others. */}
      {[...curves.filter(({ kind }) => kind === 'faint'), ...named].map((curve) => (
        <g key={curve.name} className={CLASSES[curve.kind]}>
          <title>{curve.name}</title>
          <path className={styles.curve} d={buildSteps(curve, { toX, toY, low, end })} />
        </g>
      ))}
      <Legend curves={named} width={width} axis={axis} />
    </svg>
  );
}

/** Returns the path of a step function, from the start to the end of the axis. */
function buildSteps(
  { points }: Curve,
  { toX, toY, low, end }: { toX: Scale; toY: Scale; low: number; end: number },
): string {
  const steps = points.map(({ x, share }) => `H${toX(x).toFixed(1)}V${toY(share).toFixed(1)}`);
  return `M${toX(low).toFixed(1)} ${toY(0).toFixed(1)}${steps.join('')}H${toX(end).toFixed(1)}`;
}

const KEY = 22;

function Legend({ curves, width, axis }: { curves: readonly Curve[]; width: number; axis: string }) {
  const size = (width - MARGIN.left) / 2;
  const y = HEIGHT - 6;
  return (
    <>
      <text
        className={`${figure.note} ${figure.end}`}
        x={width - MARGIN.right}
        y={HEIGHT - MARGIN.bottom + 32}
      >
        {axis}
      </text>
      {curves.map(({ name, kind }, index) => (
        <g key={name} className={CLASSES[kind]}>
          <path className={styles.curve} d={`M${MARGIN.left + index * size} ${y - 4}h${KEY}`} />
          <text className={figure.label} x={MARGIN.left + index * size + KEY + 6} y={y}>
            {truncateLabel(name, size - KEY - 12)}
          </text>
        </g>
      ))}
    </>
  );
}
