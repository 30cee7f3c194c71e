import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import type { Effect } from '@switchyard/contract/experiments/presentation/effects.ts';
import {
  classifyGroup,
  type Group,
  isSameGroup,
} from '@switchyard/contract/experiments/presentation/group-labels.ts';
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Scale } from '@switchyard/contract/presentation/scales.ts';
import { Link } from '@tanstack/react-router';
import { Figure } from '../../../ui/figures/figure.tsx';
import { type DistributedRuns, findShare, listGroupSteps } from './list-steps.ts';
import { PairTable } from './pair-table.tsx';
import pictures from './pictures.module.css';
import { STEP_CURVES_HEIGHT, type StepCurve, StepCurves } from './step-curves.tsx';
import { thinOut } from './thin-out.ts';

interface DistributionPlotProps {
  application: string;
  /** The indicator as people call it. */
  label: string;
  /** The runs of the page, which stand in for a profile that the API does not compute. */
  source: DistributedRuns;
  profile?: IndicatorProfile | undefined;
  control: Group;
  candidate: Group;
  nameGroup: (group: Group) => string;
  effect: Effect;
  pairs: readonly InputPair[];
  /** One pair in words, such as `input`. */
  unit: string;
}

/** The distribution of the indicator for each side. A dot is one side of a pair, and opens its two runs. */
export function DistributionPlot(props: DistributionPlotProps) {
  const { source, pairs, unit, application, effect } = props;
  const { indicator } = source;
  const curves = listCurves(props);
  if (curves.every(({ points }) => points.length === 0)) return null;
  const title = `Distribution of ${props.label}`;
  const share = `share of ${unit}s`;
  const table = {
    columns: ['group', 'value', share],
    rows: curves.flatMap(({ name, points }) =>
      points.map((point) => ({ group: name, value: point.x, [share]: point.share })),
    ),
  };
  return (
    <Figure
      title={title}
      caption={`Share of ${unit}s with at most this value. A dot opens its pair of runs.`}
      table={table}
      height={STEP_CURVES_HEIGHT}
      details={
        <PairTable {...{ application, pairs, effect, unit }} label={`Values of ${indicator} by ${unit}`} />
      }
    >
      {(width) => (
        <StepCurves
          curves={curves}
          width={width}
          label={`${title}: ${curves.map(({ name }) => name).join(', ')}`}
          {...(pairs.length > 0 && {
            marks: (scales: { toX: Scale; toY: Scale }) => <Dots {...props} curves={curves} {...scales} />,
          })}
        />
      )}
    </Figure>
  );
}

function listCurves({ profile, source, nameGroup, ...sides }: DistributionPlotProps): StepCurve[] {
  // A profile lacks a configuration that a race has dropped.
  const profiled = profile?.groups.some((group) => isSameGroup(group, sides.candidate)) && profile.groups;
  const groups = profiled || [
    { ...sides.control, distribution: listGroupSteps(source, sides.control) },
    { ...sides.candidate, distribution: listGroupSteps(source, sides.candidate) },
  ];
  return groups.map((group) => ({
    name: nameGroup(group),
    points: group.distribution,
    kind: classifyGroup(group, sides),
  }));
}

type DotsProps = DistributionPlotProps & { curves: readonly StepCurve[]; toX: Scale; toY: Scale };

/** The values of both sides of each pair, on the curves of the sides. */
function Dots({ pairs, curves, toX, toY, application, unit, nameGroup, ...sides }: DotsProps) {
  const dots = (['control', 'candidate'] as const).flatMap((side) => {
    const points = curves.find(({ kind }) => kind === side)?.points ?? [];
    const name = nameGroup(sides[side]);
    const valued = pairs
      .flatMap((pair) => (pair[side] === null ? [] : [{ side, name, pair, value: pair[side] }]))
      .toSorted((one, other) => one.value - other.value);
    return thinOut(valued).map((dot) => ({ ...dot, y: toY(findShare(points, dot.value)) }));
  });
  return dots.map(({ side, name, pair, value, y }, index) => {
    const text = `${unit} ${pair.input}: ${name} ${formatNumber(value)}`;
    return (
      <Link
        key={`${side} ${pair.input}`}
        to="/apps/$application/compare"
        params={{ application }}
        search={{ runs: `${pair.runs.control},${pair.runs.candidate}` }}
        className={`${pictures.point} ${pictures[side]}`}
        aria-label={text}
        tabIndex={index === 0 ? 0 : -1}
        preload={false}
      >
        <title>{text}</title>
        <circle className={pictures.hit} cx={toX(value)} cy={y} r="7" />
        <circle className={pictures.solid} cx={toX(value)} cy={y} r="2.5" />
      </Link>
    );
  });
}
