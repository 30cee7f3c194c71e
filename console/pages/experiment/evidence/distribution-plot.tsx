import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import {
  classifyGroup,
  type Group,
  isSameGroup,
} from '@switchyard/contract/experiments/presentation/group-labels.ts';
import { Figure } from '../../../ui/figures/figure.tsx';
import { type DistributedRuns, listGroupSteps } from './list-steps.ts';
import { STEP_CURVES_HEIGHT, type StepCurve, StepCurves } from './step-curves.tsx';

interface DistributionPlotProps {
  /** The indicator as people call it. */
  label: string;
  /** The same with its unit. */
  axis: string;
  /** The runs of the page, which stand in for a profile that the API does not compute. */
  source: DistributedRuns;
  profile?: IndicatorProfile | undefined;
  control: Group;
  candidate: Group;
  nameGroup: (group: Group) => string;
  /** One pair in words, such as `input`. */
  unit: string;
}

/** The distribution of the indicator for each side. */
export function DistributionPlot(props: DistributionPlotProps) {
  const { unit } = props;
  const curves = listCurves(props);
  // One value on all sides is no distribution.
  if (new Set(curves.flatMap(({ points }) => points.map(({ x }) => x))).size < 2) return null;
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
      caption={`Share of ${unit}s with at most this value.`}
      table={table}
      height={STEP_CURVES_HEIGHT}
    >
      {(width) => (
        <StepCurves
          curves={curves}
          width={width}
          axis={props.axis}
          label={`${title}: ${curves.map(({ name }) => name).join(', ')}`}
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
