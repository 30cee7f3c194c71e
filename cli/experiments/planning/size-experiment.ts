/** The size of an experiment before it exists: its runs, how long they take, and what they can show. */

import { type Client, toBody } from '@switchyard/contract/client.ts';
import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { BisectPlan } from '@switchyard/contract/experiments/bisect/bisect-plans.ts';
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { formatSize } from '@switchyard/contract/experiments/presentation/effects.ts';
import { estimateTime } from '@switchyard/contract/presentation/estimate-time.ts';
import {
  formatDuration,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { measureInstance } from '@switchyard/contract/runs/presentation/measure-instance.ts';
import { countSlots } from '@switchyard/contract/workers/count-slots.ts';
import { listItems } from '../../session/list-items.ts';
import type { RequestFields } from '../create-experiment.ts';

/** The fields of a request that decide the size of its experiment. All are unknown until the server has validated them. */
interface SizedFields {
  input_set_id?: string;
  input_ids?: string[];
  instance_ids?: string[];
  option_sets?: Record<string, unknown>;
  seeds?: unknown[];
  repetitions?: number;
  runs?: { instance_id?: string; input_id?: string }[];
  control?: { instance_id?: string };
  candidate?: { instance_id?: string };
  comparison?: { candidate_instance_id?: string };
  termination_events?: { maximum_runs?: number };
  generate_random_plan?: { units?: number; unit_duration_minutes?: number };
  primary?: string;
  objectives?: Record<string, unknown>;
  metrics?: { field?: string }[];
}

/** The size of a comparison. */
export interface ComparedSize {
  inputs: number;
  repetitions: number;
  indicator: string;
}

/** The size of an experiment. */
export interface ExperimentSize {
  /** The runs of each instance; of a search, those of one round. */
  runs: readonly { instance: string; runs: number }[];
  /** How often the runs follow one another: the fewest rounds of a search, otherwise 1. */
  rounds: number;
  units: number;
  /** The length of the plan of a switchback test; 0 for others. */
  planMs: number;
  /** The size of which the API says what it can find; null without inputs, and for a search, which runs until it decides. */
  compared: ComparedSize | null;
  /** The plan of a bisect experiment, whose number of runs only the server knows; null for others. */
  search: BisectPlan | null;
}

const MINUTE_MS = 60_000;

/** Returns the size of the experiment that the fields describe. */
export async function sizeExperiment(
  client: Client,
  { application, type }: { application: string; type: ExperimentType },
  request: RequestFields,
): Promise<ExperimentSize> {
  // The server has not validated the fields yet, and names a wrong one.
  const json: unknown = JSON.parse(JSON.stringify(request));
  const fields = json as SizedFields;
  if (hasField(type, 'searchRuns')) return sizeSearch(client, application, request);
  const ofSide = await countInputs(client, application, fields);
  const inputs = fields.termination_events?.maximum_runs ?? ofSide;
  const repetitions = fields.seeds?.length ?? fields.repetitions ?? 1;
  const { units = 0, unit_duration_minutes: minutes = 0 } = fields.generate_random_plan ?? {};
  return {
    runs: listRuns(type, fields, ofSide * repetitions),
    rounds: 1,
    units,
    planMs: units * minutes * MINUTE_MS,
    // The spread of units of time is not in the runs of a batch.
    compared: inputs < 1 || units > 0 ? null : { inputs, repetitions, indicator: chooseIndicator(fields) },
    search: null,
  };
}

function chooseIndicator({ primary, objectives = {}, metrics }: SizedFields): string {
  return primary ?? Object.keys(objectives)[0] ?? metrics?.[0]?.field ?? 'result.value';
}

/** Returns the size of a search. Throws the refusal of the server for a body that it would not create. */
async function sizeSearch(
  client: Client,
  application: string,
  request: RequestFields,
): Promise<ExperimentSize> {
  const body = toBody('planBisectExperiment', request);
  const { body: search } = await client.call('planBisectExperiment', {
    params: { application_id: application },
    body,
  });
  const { runs_per_round, minimum_runs } = search;
  return {
    // Runs without an instance have no configuration, like those of latest.
    runs: [{ instance: body.instance_id ?? 'latest', runs: runs_per_round }],
    rounds: minimum_runs / runs_per_round,
    units: 0,
    planMs: 0,
    compared: null,
    search,
  };
}

async function countInputs(client: Client, application: string, fields: SizedFields): Promise<number> {
  if (fields.input_set_id === undefined) return fields.input_ids?.length ?? 0;
  const { body } = await client.call('getInputSet', {
    params: { application_id: application, input_set_id: fields.input_set_id },
  });
  return body.input_ids.length;
}

function listRuns(type: ExperimentType, fields: SizedFields, runsOfSide: number): ExperimentSize['runs'] {
  const { control, candidate, comparison, termination_events, instance_ids, runs } = fields;
  if (hasField(type, 'units')) return [];
  if (hasField(type, 'copies'))
    return [
      { instance: comparison?.candidate_instance_id ?? '', runs: termination_events?.maximum_runs ?? 0 },
    ];
  if (hasField(type, 'rules'))
    return [control, candidate].map((side) => ({ instance: side?.instance_id ?? '', runs: runsOfSide }));
  const sets = Math.max(1, Object.keys(fields.option_sets ?? {}).length);
  if (!runs) return (instance_ids ?? []).map((instance) => ({ instance, runs: runsOfSide * sets }));
  return runs.map(({ instance_id = '', input_id }) => ({
    instance: instance_id,
    runs: input_id === undefined ? runsOfSide : 1,
  }));
}

/** Returns how long the runs of the instances take with the slots of the workers, in a sentence. Rounds do not overlap. */
export async function describeTime(
  client: Client,
  { application, signal }: { application: string; signal: AbortSignal },
  { runs, rounds, planMs }: Pick<ExperimentSize, 'runs' | 'rounds' | 'planMs'>,
): Promise<string> {
  if (planMs > 0) return `The plan takes ${formatDuration(planMs)} from its start.`;
  if (runs.length === 0) return 'The number of runs is decided during the experiment.';
  const workers = await client.call('getWorkers');
  const slots = countSlots(workers.body.items);
  const instances = [...new Set(runs.map(({ instance }) => instance))].filter((instance) => instance !== '');
  const timings = new Map(
    await Promise.all(
      instances.map(
        async (instance) =>
          [instance, await measureInstance(client, { application, instance, signal })] as const,
      ),
    ),
  );
  const timed = runs.flatMap((part) => {
    const timing = timings.get(part.instance);
    return timing ? [{ ...timing, runs: part.runs }] : [];
  });
  if (timed.length < runs.length)
    return `The time is unknown: no run of ${instances.filter((id) => !timings.get(id)).join(', ') || 'an instance'} has succeeded yet.`;
  const extent = rounds > 1 ? ' for the fewest rounds' : '';
  return `About ${formatDuration(rounds * estimateTime(timed, slots))}${extent} with ${slots} ${slots === 1 ? 'slot' : 'slots'}, by past runs of the same instances.`;
}

/** Counts the runs in a sentence. */
export function describeRuns({
  runs,
  units,
  search,
}: Pick<ExperimentSize, 'runs' | 'units' | 'search'>): string {
  if (search) return describeSearch(search);
  if (units > 0) return `${formatNumber(units)} units of live runs; the test itself creates no runs.`;
  const total = runs.reduce((sum, part) => sum + part.runs, 0);
  const parts = new Map<string, number>();
  for (const part of runs) parts.set(part.instance, (parts.get(part.instance) ?? 0) + part.runs);
  const list = [...parts].map(
    ([instance, count]) => `${formatNumber(count)} of ${instance || 'versions or ensembles'}`,
  );
  return `${formatNumber(total)} runs: ${list.join(', ')}.`;
}

function describeSearch({
  version_ids,
  input_ids,
  number_of_tests,
  runs_per_round,
  minimum_runs,
  maximum_runs,
}: BisectPlan): string {
  const count = (value: number, noun: string) => `${formatNumber(value)} ${noun}${value === 1 ? '' : 's'}`;
  return [
    `Up to ${count(number_of_tests, 'test')} among ${formatNumber(version_ids.length)} versions, each in rounds of ${formatNumber(runs_per_round)} runs: two versions on ${count(input_ids.length, 'input')}.`,
    `${formatNumber(minimum_runs)} runs if each test decides after the fewest rounds, and at most ${formatNumber(maximum_runs)}.`,
  ].join('\n');
}

/** Formats the smallest difference that a plan finds; undefined without one. */
export function describeDetectable({
  detectable_difference: difference,
  measure,
  indicator,
  power,
}: ExperimentPlan): string | undefined {
  if (difference === null) return undefined;
  return `Smallest detectable difference: ${formatSize(measure, difference)}${indicator === null ? '' : ` of ${indicator}`}, which ${formatPercent(power)} of such experiments find.`;
}

/** Returns the id of the newest completed batch experiment, whose runs can show the spread; undefined without one. */
export async function findEarlierExperiment(
  client: Client,
  application: string,
): Promise<string | undefined> {
  const { body } = await client.call('listBatchExperiments', { params: { application_id: application } });
  return listItems(body).find(({ status, warnings = [] }) => status === 'completed' && warnings.length === 0)
    ?.id;
}
