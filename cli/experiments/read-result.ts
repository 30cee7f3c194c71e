/** Reads the result of an experiment of any type in one form, for the terminal, the report and the CSV file. */

import type { Client } from '@switchyard/contract/client.ts';
import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';
import {
  type ExperimentAddress,
  listExperimentRuns,
  readExperiment,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import {
  collectComparison,
  readShift,
  sortByRole,
} from '@switchyard/contract/experiments/presentation/compared-indicators.ts';
import { formatRule } from '@switchyard/contract/experiments/presentation/format-rule.ts';
import { createGroupNamer } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import {
  createOriginalReader,
  type PairedRun,
  pairRuns,
  readBatchInput,
} from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { viewIndicator } from '@switchyard/contract/experiments/presentation/view-indicator.ts';
import { viewResult } from './describe-result.ts';
import type { ComparedView, ExperimentResult, RuleView } from './experiment-result.ts';
import { readBisect } from './read-bisect.ts';
import { readSwitchback } from './read-switchback.ts';

type Reader = (client: Client, address: ExperimentAddress) => Promise<ExperimentResult>;

const READERS: Record<ExperimentType, Reader> = {
  batch: readBatch,
  scenario: readBatch,
  acceptance: readAcceptance,
  shadow: readShadow,
  switchback: readSwitchback,
  bisect: readBisect,
};

/** Reads the result. Pairs of runs need the list of all runs, so an experiment with many takes a moment. */
export function readResult(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  return READERS[address.type](client, address);
}

async function readBatch(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const body = await readExperiment(client, { ...address, type: 'batch' });
  const { runs } = await listExperimentRuns(client, address);
  const compared = viewGroups(body.comparisons, {
    runs,
    readInput: readBatchInput,
    ...(body.objectives && { objectives: body.objectives }),
  });
  return { ...viewResult({ ...address, type: body.type }, body, compared), unit: 'input' };
}

async function readShadow(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const body = await readExperiment(client, { ...address, type: 'shadow' });
  const { runs } = await listExperimentRuns(client, address);
  const compared = viewGroups(body.compared, {
    runs,
    readInput: createOriginalReader(address.id),
    objectives: body.objectives,
  });
  return { ...viewResult(address, body, compared), unit: 'original' };
}

async function readAcceptance(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const body = await readExperiment(client, { ...address, type: 'acceptance' });
  const owner = { ...address, type: 'batch', id: body.experiment_id } as const;
  const groups = collectComparison(body);
  const runs = groups ? (await listExperimentRuns(client, owner)).runs : [];
  return {
    ...viewResult(address, body, []),
    isPassed: body.results?.passed ?? null,
    unit: 'input',
    compared: groups ? viewGroups([groups], { runs, readInput: readBatchInput }) : [],
    rules: listRules(body),
    body,
  };
}

function listRules({ results }: AcceptanceTest): RuleView[] {
  return (results?.metric_results ?? []).map(({ metric, passed, reason, warnings }) => ({
    rule: formatRule(metric),
    isPassed: passed,
    reason,
    warnings,
  }));
}

interface GroupSettings {
  runs: readonly PairedRun[];
  readInput: (run: PairedRun) => string;
  objectives?: Objectives;
}

function viewGroups(compared: readonly ComparedGroups[], settings: GroupSettings): ComparedView[] {
  const nameGroup = createGroupNamer(compared.flatMap(({ control, candidate }) => [control, candidate]));
  return compared.map(({ control, candidate, indicators }) => ({
    names: { control: nameGroup(control), candidate: nameGroup(candidate) },
    indicators: sortByRole(indicators).map((comparison) => {
      const view = viewIndicator(comparison);
      return {
        ...view,
        tally: comparison.inputs,
        pairs: pairRuns(settings.runs, {
          control,
          candidate,
          indicator: view.indicator,
          measure: view.effect.measure,
          shift: readShift(settings.objectives, view.indicator),
          readInput: settings.readInput,
        }),
      };
    }),
  }));
}
