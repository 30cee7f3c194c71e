/** Reads the result of an experiment of any type in one form, for the terminal, the report and the CSV file. */
import type { Client } from '@switchyard/contract/client.ts';
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { ComparedGroups } from '@switchyard/contract/experiments/experiment-results.ts';
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';
import {
  collectComparison,
  readShift,
  sortByRole,
} from '@switchyard/contract/experiments/presentation/compared-indicators.ts';
import { readEffect } from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatRule } from '@switchyard/contract/experiments/presentation/format-rule.ts';
import { createGroupNamer } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import { formatHeadline } from '@switchyard/contract/experiments/presentation/headline.ts';
import {
  createOriginalReader,
  type PairedRun,
  pairRuns,
  readBatchInput,
} from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import type { ComparedView, ExperimentResult, IndicatorView, RuleView } from './experiment-result.ts';
import type { ExperimentAddress } from './find-experiment.ts';
import { readBisect } from './read-bisect.ts';
import { readSwitchback } from './read-switchback.ts';

/** Reads the result. Pairs of runs need the list of all runs, so an experiment with many takes a moment. */
export async function readResult(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  switch (address.type) {
    case 'batch':
    case 'scenario':
      return readBatch(client, address);
    case 'acceptance':
      return readAcceptance(client, address);
    case 'shadow':
      return readShadow(client, address);
    case 'switchback':
      return readSwitchback(client, address);
    case 'bisect':
      return readBisect(client, address);
  }
}

async function readBatch(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const params = { application_id: address.application, batch_id: address.id };
  const { body } = await client.call('getBatchExperiment', { params });
  const runs = (await client.call('listBatchExperimentRuns', { params })).body.runs;
  const compared = viewGroups(body.comparisons, {
    runs,
    readInput: readBatchInput,
    ...(body.objectives && { objectives: body.objectives }),
  });
  return {
    address: { ...address, type: body.type },
    name: body.name,
    status: body.status,
    headlines: compared.map(describeFirst),
    isPassed: null,
    warnings: body.warnings,
    unit: 'input',
    compared,
    body,
  };
}

async function readShadow(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const params = { application_id: address.application, shadow_id: address.id };
  const { body } = await client.call('getShadowTest', { params });
  const runs = (await client.call('listShadowTestRuns', { params })).body.runs;
  const compared = viewGroups(body.compared, {
    runs,
    readInput: createOriginalReader(address.id),
    objectives: body.objectives,
  });
  return {
    address,
    name: body.name,
    status: body.status,
    headlines: compared.map(describeFirst),
    isPassed: null,
    warnings: body.warnings,
    unit: 'original',
    compared,
    body,
  };
}

async function readAcceptance(client: Client, address: ExperimentAddress): Promise<ExperimentResult> {
  const { application: application_id, id: acceptance_id } = address;
  const { body } = await client.call('getAcceptanceTest', { params: { application_id, acceptance_id } });
  const params = { application_id, batch_id: body.experiment_id };
  const groups = collectComparison(body);
  const runs = groups ? (await client.call('listBatchExperimentRuns', { params })).body.runs : [];
  return {
    address,
    name: body.name,
    status: body.status,
    headlines: describeDecision(body),
    isPassed: body.results?.passed ?? null,
    warnings: body.warnings,
    unit: 'input',
    compared: groups ? viewGroups([groups], { runs, readInput: readBatchInput }) : [],
    rules: listRules(body),
    body,
  };
}

function describeDecision({ results, metrics, candidate }: AcceptanceTest): string[] {
  if (!results) return [];
  const name = candidate.ensemble_id ?? candidate.instance_id;
  const met = results.metric_results?.filter(({ passed }) => passed).length ?? 0;
  const rules = metrics.length === 1 ? 'rule' : 'rules';
  const decision = `${results.passed ? 'Passed' : 'Not passed'}: ${name} meets ${met} of ${metrics.length} ${rules}.`;
  return results.error === undefined ? [decision] : [decision, results.error];
}

function listRules({ results }: AcceptanceTest): RuleView[] {
  return (results?.metric_results ?? []).map(({ metric, passed, reason, warnings = [] }) => ({
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
    indicators: sortByRole(indicators).map((comparison): IndicatorView => {
      const effect = readEffect(comparison);
      const {
        indicator,
        role = 'other',
        verdict,
        interim = false,
        reasons,
        warnings,
        objective,
      } = comparison;
      return {
        ...{ indicator, role, verdict, interim, reasons, warnings, objective, effect },
        control: comparison.control.mean,
        candidate: comparison.candidate.mean,
        pValue: comparison.wilcoxon.p_value,
        adjustedPValue: comparison.wilcoxon.p_value_holm,
        tally: comparison.inputs,
        pairs: pairRuns(settings.runs, {
          control,
          candidate,
          indicator,
          measure: effect.measure,
          shift: readShift(settings.objectives, indicator),
          readInput: settings.readInput,
        }),
      };
    }),
  }));
}

/** The sentence about the indicator that decides, or about the first one. */
function describeFirst({ names, indicators }: ComparedView): string {
  const [first] = indicators;
  if (!first) return `No indicator of ${names.candidate} and ${names.control} can be compared.`;
  return describeIndicator({ names, indicators }, first);
}

/** The sentence about an indicator, such as `new is better than old in result.value: -7.8 %.` */
export function describeIndicator(
  { names }: ComparedView,
  { indicator, verdict, effect, interim }: IndicatorView,
): string {
  const headline = formatHeadline({ ...names, indicator, verdict, effect });
  return interim ? `${headline} (Interim: the experiment was not at its planned end.)` : headline;
}
