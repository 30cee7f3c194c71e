/** Reads the result of a switchback test. */
import type { Client } from '@switchyard/contract/client.ts';
import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import { sortByRole } from '@switchyard/contract/experiments/presentation/compared-indicators.ts';
import { readEffect } from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatHeadline } from '@switchyard/contract/experiments/presentation/headline.ts';
import type { TimelineUnit } from '../terminal/pictures/unit-timeline.ts';
import type { ExperimentResult, IndicatorView } from './experiment-result.ts';
import type { ExperimentAddress } from './find-experiment.ts';

interface PlannedUnit {
  index: number;
  instance_id: string;
}

/** Reads the result over the units that have ended. */
export async function readSwitchback(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const params = { application_id: address.application, switchback_id: address.id };
  const { body } = await client.call('getSwitchbackTest', { params });
  const { baseline_instance_id: control, candidate_instance_id: candidate } = body.comparison;
  const names = { control, candidate };
  const indicators = sortByRole(body.compared).map((comparison) =>
    viewIndicator(comparison, listUnits(body.plan.units, comparison, candidate)),
  );
  return {
    address,
    name: body.name,
    status: body.status,
    headlines: indicators.slice(0, 1).map((one) => formatHeadline({ ...one, ...names })),
    isPassed: null,
    warnings: body.warnings,
    unit: 'unit',
    compared: indicators.length === 0 ? [] : [{ names, indicators }],
    body,
  };
}

function viewIndicator(comparison: SwitchbackComparison, units: readonly TimelineUnit[]): IndicatorView {
  const { indicator, role = 'other', verdict, interim = false, reasons, warnings, objective } = comparison;
  return {
    ...{ indicator, role, verdict, interim, reasons, warnings, objective, units },
    effect: readEffect(comparison),
    control: comparison.control.mean,
    candidate: comparison.candidate.mean,
    pValue: comparison.randomization.p_value,
    adjustedPValue: comparison.randomization.p_value_holm ?? null,
  };
}

function listUnits(
  planned: readonly PlannedUnit[],
  { units }: SwitchbackComparison,
  candidate: string,
): TimelineUnit[] {
  const measured = new Map(units.map((unit) => [unit.index, unit]));
  return planned.map(({ index, instance_id }) => {
    const unit = measured.get(index);
    return {
      isCandidate: instance_id === candidate,
      mean: unit?.mean ?? null,
      isCounted: unit?.counted ?? false,
    };
  });
}
