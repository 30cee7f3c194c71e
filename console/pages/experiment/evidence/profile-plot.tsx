import type { IndicatorProfile } from '@switchyard/contract/experiments/experiment-profiles.ts';
import { classifyGroup, type Group } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import { Figure } from '../../../ui/figures/figure.tsx';
import { STEP_CURVES_HEIGHT, type StepCurve, StepCurves } from './step-curves.tsx';

interface ProfilePlotProps {
  /** The indicator as people call it. */
  label: string;
  profile: IndicatorProfile;
  control: Group;
  candidate: Group;
  nameGroup: (group: Group) => string;
}

/** Performance profiles of all groups; nothing for an indicator without them. */
export function ProfilePlot({ label, profile, control, candidate, nameGroup }: ProfilePlotProps) {
  if (profile.groups.some(({ performance }) => performance === null)) return null;
  const curves: StepCurve[] = profile.groups.map((group) => ({
    name: nameGroup(group),
    points: group.performance ?? [],
    kind: classifyGroup(group, { control, candidate }),
  }));
  const title = `Performance profile of ${label}`;
  const table = {
    columns: ['group', 'ratio to the best', 'share of inputs'],
    rows: curves.flatMap(({ name, points }) =>
      points.map(({ x, share }) => ({ group: name, 'ratio to the best': x, 'share of inputs': share })),
    ),
  };
  return (
    <Figure
      title={title}
      caption="Share of inputs on which a side is at most so many times as bad as the best. Higher is better."
      table={table}
      height={STEP_CURVES_HEIGHT}
    >
      {(width) => (
        <StepCurves
          curves={curves}
          width={width}
          axis="times the best"
          label={`${title}: ${curves.map(({ name }) => name).join(', ')}`}
        />
      )}
    </Figure>
  );
}
