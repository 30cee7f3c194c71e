/** The size of an experiment before it exists: its runs, how long they take, and what they can show. */
import type { Client } from '@switchyard/contract/client.ts';
import type { ExperimentPlan } from '@switchyard/contract/experiments/experiment-plans.ts';
import { formatChange } from '@switchyard/contract/experiments/presentation/effects.ts';
import { estimateTime } from '@switchyard/contract/presentation/estimate-time.ts';
import { formatDuration, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { measureInstance } from '@switchyard/contract/runs/presentation/measure-instance.ts';
import { countSlots } from '@switchyard/contract/workers/count-slots.ts';
import { listItems } from '../../session/list-items.ts';
import type { CreatedType, RequestFields } from '../create-experiment.ts';

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

/** The size of an experiment. */
export interface ExperimentSize {
  /** The runs of each instance. */
  runs: readonly { instance: string; runs: number }[];
  inputs: number;
  repetitions: number;
  units: number;
  /** The length of the plan of a switchback test; 0 for others. */
  planMs: number;
  indicator: string;
}

const MINUTE_MS = 60_000;

/** Returns the size of the experiment that the fields describe. */
export async function sizeExperiment(
  client: Client,
  { application, type }: { application: string; type: CreatedType },
  request: RequestFields,
): Promise<ExperimentSize> {
  const fields: SizedFields = JSON.parse(JSON.stringify(request));
  const inputs = await countInputs(client, application, fields);
  const repetitions = fields.seeds?.length ?? fields.repetitions ?? 1;
  const { units = 0, unit_duration_minutes: minutes = 0 } = fields.generate_random_plan ?? {};
  return {
    runs: listRuns(type, fields, inputs * repetitions),
    inputs: fields.termination_events?.maximum_runs ?? inputs,
    repetitions,
    units,
    planMs: units * minutes * MINUTE_MS,
    indicator:
      fields.primary ??
      Object.keys(fields.objectives ?? {})[0] ??
      fields.metrics?.[0]?.field ??
      'result.value',
  };
}

async function countInputs(client: Client, application: string, fields: SizedFields): Promise<number> {
  if (fields.input_set_id === undefined) return fields.input_ids?.length ?? 0;
  const { body } = await client.call('getInputSet', {
    params: { application_id: application, input_set_id: fields.input_set_id },
  });
  return body.input_ids.length;
}

function listRuns(type: CreatedType, fields: SizedFields, runsOfSide: number): ExperimentSize['runs'] {
  const { control, candidate, comparison, termination_events, instance_ids, runs } = fields;
  if (type === 'switchback' || type === 'bisect') return [];
  if (type === 'shadow')
    return [
      { instance: comparison?.candidate_instance_id ?? '', runs: termination_events?.maximum_runs ?? 0 },
    ];
  if (type === 'acceptance')
    return [control, candidate].map((side) => ({ instance: side?.instance_id ?? '', runs: runsOfSide }));
  const sets = Math.max(1, Object.keys(fields.option_sets ?? {}).length);
  if (!runs) return (instance_ids ?? []).map((instance) => ({ instance, runs: runsOfSide * sets }));
  return runs.map(({ instance_id = '', input_id }) => ({
    instance: instance_id,
    runs: input_id === undefined ? runsOfSide : 1,
  }));
}

/** Returns how long the runs of the instances take with the slots of the workers, in a sentence. */
export async function describeTime(
  client: Client,
  { application, signal }: { application: string; signal: AbortSignal },
  { runs, planMs }: Pick<ExperimentSize, 'runs' | 'planMs'>,
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
  return `About ${formatDuration(estimateTime(timed, slots))} with ${slots} ${slots === 1 ? 'slot' : 'slots'}, by past runs of the same instances.`;
}

/** Counts the runs in a sentence. */
export function describeRuns({ runs, units }: Pick<ExperimentSize, 'runs' | 'units'>): string {
  if (units > 0) return `${formatNumber(units)} units of live runs; the test itself creates no runs.`;
  const total = runs.reduce((sum, part) => sum + part.runs, 0);
  const parts = new Map<string, number>();
  for (const part of runs) parts.set(part.instance, (parts.get(part.instance) ?? 0) + part.runs);
  const list = [...parts].map(
    ([instance, count]) => `${formatNumber(count)} of ${instance || 'versions or ensembles'}`,
  );
  return `${formatNumber(total)} runs: ${list.join(', ')}.`;
}

/** Formats the smallest difference that a plan finds; undefined without one. */
export function describeDetectable({
  detectable_difference: difference,
  measure,
  indicator,
  power,
}: ExperimentPlan): string | undefined {
  if (difference === null) return undefined;
  return `Smallest detectable difference: ${formatChange(measure, difference).replace('+', '')}${indicator === null ? '' : ` of ${indicator}`}, which ${Math.round(100 * power)} % of such experiments find.`;
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
