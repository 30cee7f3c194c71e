/** Calls the operations of an experiment of any type. The API has a path for each. */
import type { Client, ResponseBody } from '../../client.ts';
import {
  EXPERIMENTS,
  type ExperimentType,
  hasFact,
  type TypeWith,
} from '../../experiment-types/experiment-types.ts';
import type { ExperimentStatus } from '../../states.ts';

/** The address of an experiment in the API. */
export interface ExperimentAddress<Type extends ExperimentType = ExperimentType> {
  application: string;
  type: Type;
  id: string;
}

/** The counts of runs in experiments and their lists. An acceptance test has none: its batch has the runs. */
export interface ExperimentCounts {
  number_of_requested_runs?: number;
  number_of_runs?: number;
  number_of_completed_runs?: number;
  number_of_failed_runs?: number;
}

/** Returns the number of runs of an experiment: the created ones, or before those exist the requested ones. */
export function countRuns({ number_of_runs, number_of_requested_runs }: ExperimentCounts): number {
  return number_of_runs || number_of_requested_runs || 0;
}

/** The fields of an experiment that every type has. */
export interface ExperimentState extends ExperimentCounts {
  id: string;
  name: string;
  status: ExperimentStatus;
  created_at: string;
  started_at?: string;
}

/** The fields that an update changes. */
interface ExperimentNames {
  name?: string;
  description?: string;
}

type Verb = 'create' | 'get' | 'update' | 'delete' | 'start' | 'stop';
type Resource<Type extends ExperimentType> = (typeof EXPERIMENTS)[Type]['resource'];

/** Returns the id of the operation, such as `createShadowTest`. */
export function nameOperation<V extends Verb, Type extends ExperimentType>(
  verb: V,
  type: Type,
): `${V}${Resource<Type>}` {
  return `${verb}${EXPERIMENTS[type].resource}`;
}

/** Returns the parameters of the paths of all types; each path uses its own. */
export function buildExperimentParams({ application, id }: Pick<ExperimentAddress, 'application' | 'id'>) {
  return {
    application_id: application,
    batch_id: id,
    acceptance_id: id,
    shadow_id: id,
    switchback_id: id,
    bisect_id: id,
  };
}

/** Returns the address of the experiment whose runs a test evaluates. */
export function findEvaluated<Address extends Pick<ExperimentAddress, 'application'>>(
  { application }: Address,
  { experiment_id: id }: { experiment_id: string },
) {
  return { application, type: EXPERIMENTS.acceptance.runsOf, id };
}

/** Returns the address of the experiment that owns the runs: an acceptance test has those of its batch. */
async function findRunOwner(
  client: Client,
  address: ExperimentAddress,
): Promise<ExperimentAddress<TypeWith<'ownsRuns'>>> {
  const { type, ...rest } = address;
  if (hasFact(type, 'ownsRuns')) return { type, ...rest };
  const { body } = await client.call(nameOperation('get', type), { params: buildExperimentParams(address) });
  return findEvaluated(rest, body);
}

/** An experiment of the type with its results. */
export type ExperimentBody<Type extends ExperimentType = ExperimentType> = {
  [Each in ExperimentType]: ResponseBody<`get${Resource<Each>}`>;
}[Type];

/** Reads the experiment with its results. */
export function readExperiment<Type extends ExperimentType>(
  client: Client,
  address: ExperimentAddress<Type>,
  options?: { signal: AbortSignal },
): Promise<ExperimentBody<Type>>;
export async function readExperiment(
  client: Client,
  address: ExperimentAddress,
  options?: { signal: AbortSignal },
): Promise<ExperimentBody> {
  const params = buildExperimentParams(address);
  return (await client.call(nameOperation('get', address.type), { params, ...options })).body;
}

/** An experiment of the type without its results. */
type ExperimentMetadata<Type extends TypeWith<'ownsRuns'> = TypeWith<'ownsRuns'>> = {
  [Each in TypeWith<'ownsRuns'>]: ResponseBody<`get${Resource<Each>}Metadata`>;
}[Type];

/** Reads the experiment without its results, which can be large. */
export function readMetadata<Type extends TypeWith<'ownsRuns'>>(
  client: Client,
  address: ExperimentAddress<Type>,
): Promise<ExperimentMetadata<Type>>;
export async function readMetadata(
  client: Client,
  address: ExperimentAddress<TypeWith<'ownsRuns'>>,
): Promise<ExperimentMetadata> {
  const params = buildExperimentParams(address);
  return (await client.call(`${nameOperation('get', address.type)}Metadata`, { params })).body;
}

/** Reads the state of an experiment, without its results where the API allows that. Throws ApiError with 404 without one. */
export async function readState(client: Client, address: ExperimentAddress): Promise<ExperimentState> {
  const { type, ...rest } = address;
  if (hasFact(type, 'ownsRuns')) return readMetadata(client, { type, ...rest });
  const params = buildExperimentParams(address);
  const { body } = await client.call(nameOperation('get', type), { params });
  const batch = await readState(client, findEvaluated(address, body));
  const { id, name, status, created_at } = body;
  return { ...batch, id, name, status, created_at };
}

/** Reads a page of the runs, newest first. */
export async function listExperimentRuns(
  client: Client,
  address: ExperimentAddress,
  query: { limit?: number; pagetoken?: string } = {},
) {
  const owner = await findRunOwner(client, address);
  const { resource } = EXPERIMENTS[owner.type];
  return (await client.call(`list${resource}Runs`, { params: buildExperimentParams(owner), query })).body;
}

/** Changes the experiment, and returns the response of the API. */
export async function updateExperiment(client: Client, address: ExperimentAddress, body: ExperimentNames) {
  const params = buildExperimentParams(address);
  return (await client.call(nameOperation('update', address.type), { params, body })).body;
}

/** Deletes the experiment with the runs that the API deletes with it. */
export async function deleteExperiment(client: Client, address: ExperimentAddress): Promise<void> {
  await client.call(nameOperation('delete', address.type), { params: buildExperimentParams(address) });
}

/** Starts the draft of a live test. */
export async function startDraft(
  client: Client,
  address: ExperimentAddress<TypeWith<'isLive'>>,
): Promise<void> {
  await client.call(nameOperation('start', address.type), { params: buildExperimentParams(address) });
}

/** Ends an experiment early. `cancel`: the results do not count. A search has no such choice. */
export async function endEarly(
  client: Client,
  { type, ...rest }: ExperimentAddress<TypeWith<'canStop'>>,
  intent: 'complete' | 'cancel',
): Promise<void> {
  const params = buildExperimentParams(rest);
  await client.call(nameOperation('stop', type), {
    params,
    ...(hasFact(type, 'isLive') && { body: { intent } }),
  });
}
