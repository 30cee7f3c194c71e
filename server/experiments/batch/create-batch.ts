/**
 * Creates a batch experiment. Resolves and checks the request first. One transaction then stores the experiment, its own
 * references to the input contents, and all planned runs. A job starts the planned runs, and another ends the experiment.
 */

import { setImmediate } from 'node:timers/promises';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { InputSetId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import { readMeaning } from '../../apps/applications/meaning.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication, lockLiveApplication } from '../../apps/applications/store.ts';
import { findExecutableIds } from '../../apps/versions/store.ts';
import { ContentRemovedError, type SharedContent } from '../../platform/blobs/contents.ts';
import type { Reader, Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationCall } from '../../platform/http/handlers/handler.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { makeId, randomText } from '../../platform/random.ts';
import { findInputSet, type InputSetItem } from '../../runs/input-sets/store.ts';
import { insertPlannedRuns, type PlannedRun } from '../../runs/store/planned-runs.ts';
import { resolveInstanceId } from '../../runs/submit/resolve-instance.ts';
import { insertPlannedEnsembles } from '../ensembles/planned-ensembles.ts';
import { describeInputs } from '../input-properties/describe-inputs.ts';
import { buildRunPlan, parseRunSettings } from '../operations/build-run-plan.ts';
import { buildExperiment, insertOwnExperiment } from '../operations/experiment-operations.ts';
import { type InputContent, planRun, type RequestedRun } from '../operations/plan-run.ts';
import { buildRace, parseRacing, type RaceRequest } from '../racing/parse-racing.ts';
import { planRaceRound } from '../racing/plan-race-runs.ts';
import type { BatchDefinition } from '../store/batch-definition.ts';
import { insertExperimentInputs } from '../store/experiments.ts';
import { type InputProperties, insertInputProperties } from '../store/input-properties.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { type BatchEnsemble, readEnsembles } from './check-ensembles.ts';
import { checkPlan } from './check-plan.ts';
import { type CheckedRuns, checkRequestedRuns } from './check-requested-runs.ts';
import { type BatchRequest, expandRequestedRuns, parseBatchRequest } from './parse-batch-request.ts';
import { arrangeInBlocks } from './run-order.ts';

type BatchContext = Pick<Context, 'database' | 'contents' | 'propertyReader' | 'clock' | 'random'>;
type CreateBatchCall = Pick<OperationCall<'createBatchExperiment'>, 'caller' | 'params' | 'body'>;

/** Runs the transaction that inserts the experiment, and returns the result of `createBatch`. */
type StoreBatch<R> = (experiment: ExperimentsTable, insert: (tx: Writer) => Promise<void>) => Promise<R>;

const ORDER_SEED_CHARS = 16;

/** The number of inputs to share before other requests get processor time. */
const SHARE_BATCH_SIZE = 50;

/** Creates the requested experiment by `store`, and returns the result of `store`. Throws a 4xx for an invalid request. */
export async function createBatch<R>(
  context: BatchContext,
  call: CreateBatchCall,
  store: StoreBatch<R>,
): Promise<R> {
  for (;;) {
    try {
      return await tryToCreate(context, call, store);
    } catch (error) {
      // The input set was changed or deleted after it was read; the next attempt reads it again.
      if (!(error instanceof ContentRemovedError)) throw error;
    }
  }
}

async function tryToCreate<R>(
  context: BatchContext,
  { caller, params, body }: CreateBatchCall,
  store: StoreBatch<R>,
): Promise<R> {
  const { database, clock } = context;
  const application = await getApplication(database.read, caller.account, params.application_id);
  validateName(body.name, body.id);
  const request = resolveDefaultInstances(
    application,
    parseBatchRequest(body, readMeaning(application).objective),
  );
  const racing = parseRacing(body, request.settings);
  const { sets, inTimeOrder } = await readInputSets(database.read, application, request);
  const inputIds = new Map(
    [...sets].map(([id, items]) => [id, items.map((item) => item.input_id as string)]),
  );
  const runs = expandRequestedRuns(request, inputIds);
  const ensembles = await readEnsembles(database.read, application, request);
  const checked = await checkRequestedRuns(database.read, {
    application,
    request,
    runs,
    sets,
    ensembles,
    role: caller.role,
  });
  const inputs = await shareInputs(context, runs, sets);
  const described = await describeInputs({ ...context, applicationUid: application.uid }, request.settings, [
    ...inputs.values(),
  ]);
  const warnings = [...warnOfPlan(request, runs, inputs), ...described.warnings];
  const orderSeed = randomText(context.random, ORDER_SEED_CHARS);
  const plan = { request, runs, checked, inputs, seed: orderSeed };
  const { definition, planned } = racing ? planRace(plan, racing) : planBatch(plan);
  const experiment = buildExperiment({
    application,
    caller,
    uid: makeId<string>(context.random, 'x'),
    ...{ id: body.id, type: body.type ?? 'batch', name: body.name, description: body.description },
    definition: {
      ...{ ...definition, ...parseRunSettings(body) },
      ...(inTimeOrder ? { inputs_in_time_order: true } : {}),
      ...(warnings.length === 0 ? {} : { warnings }),
    } satisfies BatchDefinition,
    requested: runs.length,
    created_at: clock.now(),
  });
  const versions = [...checked.versions.values(), ...runs.map((run) => run.version_id)];
  const stored = await store(experiment, async (tx) => {
    await lockLiveApplication(tx, application);
    await checkVersions(tx, application, versions);
    await insertBatch(tx, experiment, {
      ...{ inputs: [...inputs.values()], properties: described.properties, ensembles, planned },
    });
  });
  database.notify('runs-planned');
  return stored;
}

/** Returns the warnings of the plan, in which runs on equal contents have one input. */
function warnOfPlan(
  request: BatchRequest,
  runs: readonly RequestedRun[],
  inputs: ReadonlyMap<string, SharedInput>,
): string[] {
  return checkPlan(
    request,
    runs.map((run) => ({ ...run, content: inputs.get(inputKey(run))?.content.sha256 ?? inputKey(run) })),
  );
}

interface BatchRows {
  inputs: readonly SharedInput[];
  properties: readonly InputProperties[];
  ensembles: ReadonlyMap<string, BatchEnsemble>;
  planned: readonly PlannedRun[];
}

/** A checked request, from which the runs are planned. */
interface BatchPlan {
  request: BatchRequest;
  runs: readonly RequestedRun[];
  checked: CheckedRuns;
  inputs: ReadonlyMap<string, SharedInput>;
  /** Seed of the random order. */
  seed: string;
}

/** The definition of an experiment, and the runs to plan at its creation. */
interface PlannedBatch {
  definition: BatchDefinition;
  planned: PlannedRun[];
}

function planBatch(plan: BatchPlan): PlannedBatch {
  const { request, runs, seed } = plan;
  const { optionSets, seeds } = request;
  return {
    definition: buildDefinition(plan),
    planned: arrangeInBlocks(runs, seed).map(({ run, block }, position) =>
      planRun(run, { block, position, content: findContent(plan, run), optionSets, seeds }),
    ),
  };
}

/** Plans the first round of a race. The control of the results is its first configuration. */
function planRace(plan: BatchPlan, racing: RaceRequest): PlannedBatch {
  const { request, runs, checked, seed } = plan;
  const race = buildRace(racing, {
    runs,
    versions: checked.versions,
    findContent: (run) => findInput(plan, run).content.sha256,
    seed,
  });
  const first = planRaceRound({
    race,
    seed,
    optionSets: request.optionSets,
    seeds: request.seeds,
    findContent: (input) => findContent(plan, input),
  });
  const definition = buildDefinition(plan);
  const versions = [...new Set(race.configurations.map(({ version_id }) => version_id))];
  return {
    definition: { ...definition, order: { ...definition.order, versions }, racing: first.race },
    planned: first.runs,
  };
}

type InputName = Pick<RequestedRun, 'input_set_id' | 'input_id'>;

function findInput({ inputs }: BatchPlan, run: InputName): SharedInput {
  const input = inputs.get(inputKey(run));
  if (!input) throw new Error(`The input ${run.input_id} of a requested run is not shared.`);
  return input;
}

function findContent(plan: BatchPlan, run: InputName): InputContent {
  const { content, item } = findInput(plan, run);
  return { content_id: content.id, input_format: item.input_format };
}

async function insertBatch(
  tx: Writer,
  experiment: ExperimentsTable,
  { inputs, properties, ensembles, planned }: BatchRows,
): Promise<void> {
  const { uid } = experiment;
  await insertOwnExperiment(tx, experiment);
  for (const { content } of inputs) await content.insert(tx);
  await insertExperimentInputs(
    tx,
    inputs.map(({ item, set, content }) => ({
      experiment_uid: uid,
      input_set_id: set,
      input_id: item.input_id,
      content_id: content.id,
      input_format: item.input_format,
    })),
  );
  await insertInputProperties(tx, uid, properties);
  await insertPlannedEnsembles(tx, uid, new Map([...ensembles].map(([key, { json }]) => [key, json])));
  await insertPlannedRuns(tx, buildRunPlan(experiment, experiment.created_at), planned);
}

/** Throws a 400 for a version that was deleted after the check of the runs. */
async function checkVersions(
  tx: Writer,
  application: ApplicationsTable,
  versions: readonly string[],
): Promise<void> {
  const named = [...new Set(versions)].filter((id) => id !== '') as VersionId[];
  const found = await findExecutableIds(tx, application.uid, named);
  const deleted = named.find((id) => !found.has(id));
  if (deleted !== undefined)
    throw badRequest(`The version ${quoteValue(deleted)} was deleted meanwhile; send the request again.`);
}

/** Replaces `default` by the current default instance of the application. Throws a 400 for an instance named twice. */
function resolveDefaultInstances(application: ApplicationsTable, request: BatchRequest): BatchRequest {
  const resolve = (id: string): string => (id === '' ? '' : resolveInstanceId(application, id));
  const seen = new Map<string, number>();
  for (const [index, id] of request.instanceIds.entries()) {
    const name = isLatest(resolve(id)) ? 'latest' : resolve(id);
    const earlier = seen.get(name);
    if (earlier !== undefined)
      throw badRequest(
        `instance_ids.${index} is ${quoteValue(id)}, which instance_ids.${earlier} names already; name each instance once, and set repetitions to the number of its runs.`,
      );
    seen.set(name, index);
  }
  return {
    ...request,
    instanceIds: request.instanceIds.map(resolve),
    runs: request.runs.map((run) => ({ ...run, instance_id: resolve(run.instance_id) })),
  };
}

/** The items of input sets, by the id of the set. */
interface RequestedInputs {
  sets: Map<string, readonly InputSetItem[]>;
  /** True when all are the inputs of an instance's runs in a period: the set has them in the order of the runs. */
  inTimeOrder: boolean;
}

/** Reads the input sets of a request. Throws a 400 for a missing set. */
async function readInputSets(
  db: Reader,
  application: ApplicationsTable,
  { runs, inputSetId }: BatchRequest,
): Promise<RequestedInputs> {
  const sets = new Map<string, readonly InputSetItem[]>();
  let periods = 0;
  for (const { field, input_set_id: id } of runs) {
    if (sets.has(id)) continue;
    const set = await findInputSet(db, application.uid, id as InputSetId);
    if (!set)
      throw badRequest(
        `${id === inputSetId ? 'input_set_id' : `${field}.input_set_id`} is ${quoteValue(id)}; it must be an input set of this application.`,
      );
    sets.set(id, set.items);
    if (set.instance_id !== null && set.items.every(({ run_id }) => run_id !== null)) periods += 1;
    await setImmediate();
  }
  return { sets, inTimeOrder: sets.size === 1 && periods === 1 };
}

interface SharedInput {
  set: string;
  item: InputSetItem;
  content: SharedContent;
}

/** Shares each input of the runs once: the experiment gets its own content id for it. */
async function shareInputs(
  { contents }: Pick<Context, 'contents'>,
  runs: readonly RequestedRun[],
  sets: ReadonlyMap<string, readonly InputSetItem[]>,
): Promise<Map<string, SharedInput>> {
  const needed = new Set(runs.map(inputKey));
  const shared = new Map<string, SharedInput>();
  for (const [set, items] of sets)
    for (const item of items) {
      const key = inputKey({ input_set_id: set, input_id: item.input_id });
      if (!needed.has(key)) continue;
      const content = await contents.share(item.content_id);
      if (!content) throw new ContentRemovedError(`The content ${item.content_id} was deleted.`);
      shared.set(key, { set, item, content });
      if (shared.size % SHARE_BATCH_SIZE === 0) await setImmediate();
    }
  return shared;
}

function inputKey({ input_set_id, input_id }: Pick<RequestedRun, 'input_set_id' | 'input_id'>): string {
  return JSON.stringify([input_set_id, input_id]);
}

function buildDefinition({ request, runs, checked, seed }: BatchPlan): BatchDefinition {
  const { versions, ensembleInstances, hidden } = checked;
  const distinct = (value: (run: RequestedRun) => string | null): string[] => [
    ...new Set(runs.flatMap((run) => value(run) ?? [])),
  ];
  return {
    input_set_id: request.inputSetId,
    instance_ids: [...request.instanceIds],
    option_sets: Object.fromEntries(request.optionSets),
    ...request.settings,
    ...(request.seeds ? { seeds: [...request.seeds.values], seed_option: request.seeds.option } : {}),
    order: {
      instances: distinct((run) => run.instance_id),
      ...(ensembleInstances.size === 0 ? {} : { ensembles: distinct((run) => run.ensemble_id) }),
      versions: distinct((run) => run.version_id || null),
      // Runs without one have a place too: when the first run has none, it is the control.
      option_sets: distinct((run) => run.option_set ?? ''),
      scenarios: distinct((run) => run.scenario_id ?? ''),
      inputs: distinct((run) => run.input_id),
    },
    versions: Object.fromEntries(versions),
    ...(ensembleInstances.size === 0 ? {} : { ensemble_instances: [...ensembleInstances] }),
    hidden: Object.fromEntries([...hidden].map(([name, roles]) => [name, [...roles]])),
    run_order: { design: 'randomized-blocks', seed },
  };
}
