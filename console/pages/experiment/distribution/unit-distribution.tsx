import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { Figure } from '../../../ui/figures/figure.tsx';
import { STEP_CURVES_HEIGHT, type StepCurve, StepCurves } from '../comparison/step-curves.tsx';
import { listSteps } from './list-steps.ts';

interface UnitDistributionProps {
  comparison: SwitchbackComparison;
  names: { control: string; candidate: string };
}

/** The distribution of the means of the counted units, for each instance of a switchback test. */
export function UnitDistribution({ comparison, names }: UnitDistributionProps) {
  const { indicator } = comparison;
  const counted = comparison.units.filter((unit) => unit.counted);
  const curves = (['control', 'candidate'] as const).map((kind): StepCurve => {
    const means = counted.filter(({ instance_id }) => instance_id === names[kind]).map(({ mean }) => mean);
    return { name: names[kind], kind, points: listSteps(means) };
  });
  if (curves.every(({ points }) => points.length === 0)) return null;
  const title = `Distribution of ${indicator} by unit`;
  const share = 'share of units';
  const table = {
    columns: ['instance', 'mean', share],
    rows: curves.flatMap(({ name, points }) =>
      points.map((point) => ({ instance: name, mean: point.x, [share]: point.share })),
    ),
  };
  return (
    <Figure
      title={title}
      caption="Share of the counted units of an instance whose mean is at most x. Hours and trends are part of the spread; the estimate above removes their influence."
      table={table}
      height={STEP_CURVES_HEIGHT}
    >
      {(width) => (
        <StepCurves
          curves={curves}
          width={width}
          label={`${title}: ${curves.map(({ name, points }) => `${name}, ${points.length} means`).join('; ')}`}
          axis={indicator}
        />
      )}
    </Figure>
  );
}
