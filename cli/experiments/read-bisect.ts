/** Reads the result of a bisect experiment: the version that introduced the change. */

import type { Client } from '@switchyard/contract/client.ts';
import {
  type ExperimentAddress,
  readExperiment,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ExperimentResult } from './experiment-result.ts';

/** Reads the result of the search so far. */
export async function readBisect(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const body = await readExperiment(client, { ...address, type: 'bisect' });
  const measure = body.difference.type;
  const certainty = body.probability === null ? [] : [`Probability: ${formatPercent(body.probability)}.`];
  return {
    address,
    name: body.name,
    status: body.status,
    headlines: body.verdict === 'running' ? [] : [body.reason, ...certainty],
    isPassed: null,
    warnings: body.skipped_versions.map(
      ({ version_id, reason }) => `Version ${version_id} was skipped: ${reason}`,
    ),
    unit: 'input',
    compared: [],
    table: {
      title: 'Steps of the search',
      columns: ['VERSION', 'DECISION', 'ROUNDS', 'WORSE BY'],
      rows: body.steps.map(({ version_id, decision, number_of_rounds, effect }) => [
        version_id,
        (decision ?? 'undecided').replaceAll('_', ' '),
        String(number_of_rounds),
        effect === null ? '' : formatChange(measure, effect),
      ]),
    },
    body,
  };
}
