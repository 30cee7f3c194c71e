/** Parses requests for input sets. */
import type { InputSetCreate } from '@switchyard/contract/applications/input-sets.ts';
import { INPUT_SET_RUNS_MAX, INPUT_SET_WINDOW_DEFAULT_MS } from '@switchyard/contract/limits.ts';
import type { InputId, InstanceId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';

/** The source of the inputs of a set. `start` and `end` are milliseconds since the epoch; `end` is exclusive. */
export type InputSetSource =
  | { kind: 'runs'; ids: readonly RunId[] }
  | { kind: 'inputs'; ids: readonly InputId[] }
  | { kind: 'instance'; id: InstanceId; start: number; end: number; maximum: number };

/**
 * Returns the sources that the request names, in the order of the set: runs, and then managed inputs. Throws a 400 for fields
 * that cannot be combined.
 */
export function parseInputSetSources(body: InputSetCreate, now: number): InputSetSource[] {
  const { run_ids, instance_id, inputs, maximum_runs } = body;
  checkTime(body);
  const sources: InputSetSource[] = [];
  if (isPresent(run_ids)) {
    if (isPresent(instance_id))
      throw badRequest(
        'run_ids and instance_id are given; name the runs, or the instance whose runs in a time range to use.',
      );
    checkMaximum('run_ids', run_ids, maximum_runs);
    checkUnique(run_ids, (index) => `run_ids.${index}`);
    sources.push({ kind: 'runs', ids: run_ids });
  }
  if (isPresent(instance_id)) {
    const maximum = maximum_runs ?? INPUT_SET_RUNS_MAX;
    sources.push({ kind: 'instance', id: instance_id, ...parseWindow(body, now), maximum });
  }
  if (isPresent(inputs)) {
    // Beside runs, the maximum bounds the runs.
    if (sources.length === 0) checkMaximum('inputs', inputs, maximum_runs);
    sources.push({ kind: 'inputs', ids: parseInputIds(inputs) });
  }
  if (sources.length === 0)
    throw badRequest('run_ids, instance_id and inputs are all absent; give one of them.');
  return sources;
}

/** Throws a 400 for a time range without an instance. */
function checkTime(body: InputSetCreate): void {
  const [time] = (['start_time', 'end_time'] as const).filter((name) => isPresent(body[name]));
  if (time === undefined || (isPresent(body.instance_id) && !isPresent(body.run_ids))) return;
  const [source] = (['run_ids', 'inputs'] as const).filter((name) => isPresent(body[name]));
  throw badRequest(
    source === undefined
      ? `${time} is ${quoteValue(body[time])} and instance_id is absent; a time range needs the instance of the runs.`
      : `${source} and ${time} are given; a time range can be combined only with instance_id.`,
  );
}

/** Returns the ids of inputs; throws a 400 for an id that occurs twice. */
export function parseInputIds(inputs: readonly { id: InputId }[]): InputId[] {
  const ids = inputs.map((one) => one.id);
  checkUnique(ids, (index) => `inputs.${index}.id`);
  return ids;
}

/** Returns the time range; throws a 400 when it is empty. Without a start it begins INPUT_SET_WINDOW_DEFAULT_MS ago. */
function parseWindow({ start_time, end_time }: InputSetCreate, now: number): { start: number; end: number } {
  const start = isPresent(start_time) ? Date.parse(start_time) : now - INPUT_SET_WINDOW_DEFAULT_MS;
  // Without an end, the range includes runs created in this millisecond.
  const end = isPresent(end_time) ? Date.parse(end_time) : Number.MAX_SAFE_INTEGER;
  if (start >= end) {
    const from = isPresent(start_time)
      ? quoteValue(start_time)
      : `absent, and so 24 hours ago (${formatRfc3339(start)})`;
    throw badRequest(`start_time is ${from}, which is not before end_time, ${quoteValue(end_time)}.`);
  }
  return { start, end };
}

/** Throws a 400 for more items than the request allows. */
function checkMaximum(
  field: 'run_ids' | 'inputs',
  items: readonly unknown[],
  maximum: number | null | undefined,
): void {
  if (isPresent(maximum) && items.length > maximum)
    throw badRequest(
      `${field} has ${items.length} items and maximum_runs is ${maximum}; name no more than that, or leave maximum_runs out.`,
    );
}

/** Throws a 400 for an id that occurs twice; `field` returns the path of the id at an index. */
function checkUnique(ids: readonly string[], field: (index: number) => string): void {
  for (const [index, id] of ids.entries()) {
    const first = ids.indexOf(id);
    if (first !== index)
      throw badRequest(`${field(index)} is ${quoteValue(id)}, as ${field(first)} is; name each once.`);
  }
}

function isPresent<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}
