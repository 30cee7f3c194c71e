import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import {
  classifyGroup,
  type Group,
  isSameGroup,
} from '@switchyard/contract/experiments/presentation/group-labels.ts';
import { Figure } from '../../../ui/figures/figure.tsx';
import { type DistributedRuns, listGroupSteps, type StepPoint } from './list-steps.ts';
import { STEP_CURVES_HEIGHT, type StepCurve, StepCurves } from './step-curves.tsx';

interface Sides {
  control: Group;
  candidate: Group;
  nameGroup: (group: Group) => string;
}

interface DistributionPlotProps extends Sides {
  /** The indicator as people call it. */
  label: string;
  /** The same with its unit. */
  axis: string;
  /** The runs of the page, which stand in for a profile that the API does not compute. */
  source: DistributedRuns;
  profile?: IndicatorProfile | undefined;
  /** One pair in words, such as `input`. */
  unit: string;
}

/** The distribution of the indicator for each side. One value on all sides is no distribution. */
export function DistributionPlot({ label, axis, source, profile, unit, ...sides }: DistributionPlotProps) {
  // A profile lacks a configuration that a race has dropped.
  const profiled = profile?.groups.some((group) => isSameGroup(group, sides.candidate)) && profile.groups;
  const groups = profiled || [
    { ...sides.control, distribution: listGroupSteps(source, sides.control) },
    { ...sides.candidate, distribution: listGroupSteps(source, sides.candidate) },
  ];
  const curves = groups.map((group) => buildCurve(group, group.distribution, sides));
  if (new Set(curves.flatMap(({ points }) => points.map(({ x }) => x))).size < 2) return null;
  return (
    <StepPlot
      title={`Distribution of ${label}`}
      caption={`Share of ${unit}s with at most this value.`}
      columns={['value', `share of ${unit}s`]}
      {...{ axis, curves }}
    />
  );
}

/** Performance profiles of all groups; nothing for an indicator without them. */
export function ProfilePlot({
  label,
  profile,
  ...sides
}: Sides & { label: string; profile: IndicatorProfile }) {
  if (profile.groups.some(({ performance }) => performance === null)) return null;
  return (
    <StepPlot
      title={`Performance profile of ${label}`}
      caption="Share of inputs on which a side is at most so many times as bad as the best. Higher is better."
      axis="times the best"
      columns={['ratio to the best', 'share of inputs']}
      curves={profile.groups.map((group) => buildCurve(group, group.performance ?? [], sides))}
    />
  );
}

function buildCurve(group: Group, points: readonly StepPoint[], { nameGroup, ...sides }: Sides): StepCurve {
  return { name: nameGroup(group), points, kind: classifyGroup(group, sides) };
}

interface StepPlotProps {
  title: string;
  caption: string;
  axis: string;
  /** Names of the two values in the table. */
  columns: readonly [x: string, share: string];
  curves: readonly StepCurve[];
}

function StepPlot({ title, caption, axis, columns: [x, share], curves }: StepPlotProps) {
  const rows = curves.flatMap(({ name, points }) =>
    points.map((point) => ({ group: name, [x]: point.x, [share]: point.share })),
  );
  return (
    <Figure
      {...{ title, caption }}
      table={{ columns: ['group', x, share], rows }}
      height={STEP_CURVES_HEIGHT}
    >
      {(width) => (
        <StepCurves
          {...{ curves, width, axis }}
          label={`${title}: ${curves.map(({ name }) => name).join(', ')}`}
        />
      )}
    </Figure>
  );
}
