/** Reads the result of a switchback test. */

import type { Client } from '@switchyard/contract/client.ts';
import type { SwitchbackComparison } from '@switchyard/contract/experiments/experiment-results.ts';
import {
  type ExperimentAddress,
  readExperiment,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { sortByRole } from '@switchyard/contract/experiments/presentation/compared-indicators.ts';
import { viewIndicator } from '@switchyard/contract/experiments/presentation/view-indicator.ts';
import type { TimelineUnit } from '../terminal/pictures/unit-timeline.ts';
import { viewResult } from './describe-result.ts';
import type { ExperimentResult } from './experiment-result.ts';

interface PlannedUnit {
  index: number;
  instance_id: string;
}

/** Reads the result over the units that have ended. */
export async function readSwitchback(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const body = await readExperiment(client, { ...address, type: 'switchback' });
  const { baseline_instance_id: control, candidate_instance_id: candidate } = body.comparison;
  const names = { control, candidate };
  const indicators = sortByRole(body.compared).map((comparison) => ({
    ...viewIndicator(comparison),
    units: listUnits(body.plan.units, comparison, candidate),
  }));
  const compared = indicators.length === 0 ? [] : [{ names, indicators }];
  return { ...viewResult(address, body, compared), unit: 'unit' };
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
