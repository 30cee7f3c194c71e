/**
 * Makes a batch experiment: what it wants is settled and checked, then the experiment, its own names of the inputs and all
 * its planned runs are one transaction. From there on it goes by itself: births.ts makes the runs, advance.ts ends it.
 */
import { setImmediate } from 'node:timers/promises';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { BATCH_OPTIONS_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { HandlerResponse } from '@switchyard/contract/operation.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { InputId, InputSetId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { getApplication, lockLiveApplication } from '../../applications/store.ts';
import { ContentRemovedError, type Contents, type SharedContent } from '../../blobs/contents.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { badRequest, Problem, quoteValue } from '../../http/errors/problem.ts';
import type { Call } from '../../http/handlers/handler.ts';
import { validateName } from '../../http/requests/resource-names.ts';
import { findInputSet, type InputSetItem } from '../../input-sets/store.ts';
import { readDeclaredOptions, validateOptionNames } from '../../instances/rules.ts';
import { makeId, type Random } from '../../random.ts';
import { insertPlannedRuns, type PlannedRun } from '../../runs/store/planned-runs.ts';
import {
  type ExecutableTarget,
  resolveInstanceId,
  resolvePlannedRun,
} from '../../runs/submit/resolve-instance.ts';
import { findExecutableIds } from '../../versions/store.ts';
import type { BatchDefinition } from '../store/batch-definition.ts';
import { insertExperimentInputs } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { insertExperiment } from '../store/transitions.ts';
import { checkPlannedRun } from './check-planned-run.ts';
import { formatBatch } from './format-batch.ts';
import {
  type BatchRequest,
  expandRequestedRuns,
  parseBatchRequest,
  type RequestedRun,
} from './parse-batch-request.ts';

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  random: Random;
}

type BatchCall = Call<Operations['createBatchExperiment']>;
type BatchReply = HandlerResponse<Operations['createBatchExperiment']>;

/** What is asked for, and by whom. */
interface CreateCall extends Pick<BatchCall, 'caller' | 'params' | 'body'> {
  /** Comes first in the transaction that makes the experiment of the uid. */
  remember(tx: Writer, answer: BatchReply, uid: string): Promise<void>;
}

/** Makes the experiment that the request asks for, and answers it. */
export async function createBatch(parts: Parts, call: CreateCall) {
  for (;;) {
    try {
      return await tryToCreate(parts, call);
    } catch (error) {
      // The input set was changed or deleted since it was read; the next time its inputs are those it has, or there is none.
      if (!(error instanceof ContentRemovedError)) throw error;
    }
  }
}

async function tryToCreate(parts: Parts, { caller, params, body, remember }: CreateCall) {
  const { database, clock, random } = parts;
  const application = await getApplication(database.read, caller.account, params.application_id);
  validateName(body.name, body.id);
  const asked = settled(application, parseBatchRequest(body));
  const sets = await setsOf(parts, application, asked);
  const inputsOf = new Map(
    [...sets].map(([id, items]) => [id, items.map((item) => item.input_id as string)]),
  );
  const wanted = expandRequestedRuns(asked, inputsOf);
  const checked = await check(parts, application, asked, wanted, sets, caller.role);
  const inputs = await inputsFor(parts, wanted, sets);
  const now = clock.now();
  const experiment: ExperimentsTable = {
    uid: makeId<string>(random, 'x'),
    application_uid: application.uid,
    application_id: application.id,
    account_id: application.account_id,
    kind: 'batch',
    id: body.id,
    type: body.type ?? 'batch',
    name: body.name,
    description: body.description ?? '',
    status: 'started',
    user_email: caller.email,
    definition: JSON.stringify(definitionFor(asked, wanted, body.objectives ?? null, checked)),
    requested: wanted.length,
    created_at: now,
    updated_at: now,
    started_at: now,
    completed_at: null,
    deleted_at: null,
  };
  const answer = {
    status: 201 as const,
    body: formatBatch(experiment, { statuses: {}, planned: wanted.length, refused: 0 }, caller.role),
  };
  const { uid, id, type } = experiment;
  const plan = {
    ownerUid: uid,
    applicationUid: application.uid,
    plannedAt: now,
    userEmail: caller.email,
    experiment: { uid, id, type },
  };
  const planned = plannedOf(asked, wanted, inputs);
  await database.transact(async (tx) => {
    await remember(tx, answer, uid);
    await lockLiveApplication(tx, application);
    const versions = [...checked.versions.values(), ...wanted.map((run) => run.version_id)];
    await checkVersions(tx, application, versions);
    if (!(await insertExperiment(tx, experiment)))
      throw badRequest(
        `id is ${quoteValue(id)}, which another batch experiment of the application has; choose another.`,
      );
    for (const { content } of inputs.values()) await content.insert(tx);
    await insertExperimentInputs(
      tx,
      [...inputs.values()].map(({ item, set, content }) => ({
        experiment_uid: uid,
        input_set_id: set,
        input_id: item.input_id,
        content_id: content.id,
        input_format: item.input_format,
      })),
    );
    await insertPlannedRuns(tx, plan, planned);
  });
  database.notify('runs-planned');
  return answer;
}

/** Throws the 400 for a version that was deleted since the runs were checked. */
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

/** `default` is the default instance that the application has now. */
function settled(application: ApplicationsTable, asked: BatchRequest): BatchRequest {
  const chosen = (id: string): string => (id === '' ? '' : resolveInstanceId(application, id));
  const seen = new Map<string, number>();
  for (const [index, id] of asked.instanceIds.entries()) {
    const name = isLatest(chosen(id)) ? 'latest' : chosen(id);
    const before = seen.get(name);
    if (before !== undefined)
      throw badRequest(
        `instance_ids.${index} is ${quoteValue(id)}, as instance_ids.${before} is; name each instance once, and say with repetitions how often it runs.`,
      );
    seen.set(name, index);
  }
  return {
    ...asked,
    instanceIds: asked.instanceIds.map(chosen),
    runs: asked.runs.map((run) => ({ ...run, instance_id: chosen(run.instance_id) })),
  };
}

async function setsOf(
  { database }: Parts,
  application: ApplicationsTable,
  { runs, inputSetId }: BatchRequest,
): Promise<Map<string, readonly InputSetItem[]>> {
  const sets = new Map<string, readonly InputSetItem[]>();
  for (const { field, input_set_id: id } of runs) {
    if (sets.has(id)) continue;
    const set = await findInputSet(database.read, application.uid, id as InputSetId);
    if (!set)
      throw badRequest(
        `${id === inputSetId ? 'input_set_id' : `${field}.input_set_id`} is ${quoteValue(id)}; it must be an input set of this application.`,
      );
    sets.set(id, set.items);
    await setImmediate();
  }
  return sets;
}

interface Checked {
  versions: Map<string, string>;
  hidden: Map<string, Set<Role>>;
}

/** That every instance and version is there and takes what it will be given. */
async function check(
  { database }: Parts,
  application: ApplicationsTable,
  asked: BatchRequest,
  wanted: readonly RequestedRun[],
  sets: ReadonlyMap<string, readonly InputSetItem[]>,
  role: Role,
): Promise<Checked> {
  const formats = new Map(
    [...sets].map(([id, items]) => [
      id,
      new Map(items.map((item) => [item.input_id as string, item.input_format])),
    ]),
  );
  const fields = fieldsOf(asked);
  const places = new Map<string, ExecutableTarget>();
  /** How long the options are of what was checked already. */
  const done = new Map<string, number>();
  let chars = 0;
  const checked: Checked = { versions: new Map(), hidden: new Map() };
  for (const run of wanted) {
    const where = JSON.stringify([run.instance_id, run.version_id]);
    let place = places.get(where);
    if (!place) {
      place = await resolve(database, application, run, fields.get(where) ?? 'runs');
      places.set(where, place);
      checked.versions.set(run.instance_id, place.versionId);
      await setImmediate();
    }
    const format = formats.get(run.input_set_id)?.get(run.input_id) ?? 'json';
    const what = JSON.stringify([where, run.option_set, format]);
    const known = done.get(what);
    if (known !== undefined) {
      chars += known;
      continue;
    }
    const options = run.option_set === null ? {} : (asked.optionSets.get(run.option_set) ?? {});
    const own = checkPlannedRun({ place, run, options, format, role });
    chars += own;
    done.set(what, own);
    for (const item of place.requirements.options?.items ?? [])
      if (Object.hasOwn(options, item.name) && item.ui?.hidden_from?.length) {
        const roles = checked.hidden.get(item.name) ?? new Set();
        for (const one of item.ui.hidden_from) roles.add(one);
        checked.hidden.set(item.name, roles);
      }
    if (done.size % CHECKED_AT_ONCE === 0) await setImmediate();
  }
  checkUnused(asked, wanted, [...places.values()], role);
  if (chars > BATCH_OPTIONS_CHARS_MAX)
    throw badRequest(
      `The options of all ${wanted.length} runs, those of their instances and versions included, are ${chars} characters long, written as JSON; together they may have ${BATCH_OPTIONS_CHARS_MAX}.`,
    );
  return checked;
}

const CHECKED_AT_ONCE = 50;

/** An option set that no run has may hold what any of the apps declares. */
function checkUnused(
  { optionSets }: BatchRequest,
  wanted: readonly RequestedRun[],
  places: readonly ExecutableTarget[],
  role: Role,
): void {
  const used = new Set(wanted.map((run) => run.option_set));
  const unused = [...optionSets].filter(([key]) => !used.has(key));
  if (unused.length === 0) return;
  const apps = places.map((place) => readDeclaredOptions(place.executable, role));
  const declared = {
    names: new Set(apps.flatMap((app) => [...app.names])),
    hiddenNames: new Set(apps.flatMap((app) => [...app.hiddenNames])),
  };
  for (const [key, options] of unused) {
    const error = validateOptionNames(Object.keys(options), `option_sets.${key}`, declared);
    if (error) throw badRequest(error);
  }
}

/** Where in the request each instance and version is named first. */
function fieldsOf({ runs }: BatchRequest): Map<string, string> {
  const fields = new Map<string, string>();
  for (const { field, instance_id, version_id } of runs) {
    const where = JSON.stringify([instance_id, version_id]);
    if (!fields.has(where)) fields.set(where, field);
  }
  return fields;
}

async function resolve(
  database: Database,
  application: ApplicationsTable,
  { instance_id, version_id }: RequestedRun,
  field: string,
): Promise<ExecutableTarget> {
  const own = field.startsWith('runs');
  try {
    // Each is looked for by itself, so that the answer names the one that is missing.
    const instance =
      instance_id === '' ? null : await resolvePlannedRun(database.read, application, instance_id, '');
    if (version_id === '' && instance) return instance;
    return await resolvePlannedRun(database.read, application, instance_id, version_id).catch(
      (error: unknown) => {
        if (error instanceof Problem && error.status === 400)
          throw badRequest(
            `${field}.version_id is ${quoteValue(version_id)}; it must be a version of this application.`,
          );
        throw error;
      },
    );
  } catch (error) {
    if (error instanceof Problem && error.status === 404)
      throw badRequest(
        `${own ? `${field}.instance_id` : field} is ${quoteValue(instance_id)}; it must be an instance of this application.`,
      );
    throw error;
  }
}

interface HeldInput {
  set: string;
  item: InputSetItem;
  content: SharedContent;
}

/** The inputs of the wanted runs, each once, by a name that is the experiment's own. */
async function inputsFor(
  { contents }: Parts,
  wanted: readonly RequestedRun[],
  sets: ReadonlyMap<string, readonly InputSetItem[]>,
): Promise<Map<string, HeldInput>> {
  const needed = new Set(wanted.map(inputKey));
  const held = new Map<string, HeldInput>();
  for (const [set, items] of sets)
    for (const item of items) {
      const key = inputKey({ input_set_id: set, input_id: item.input_id });
      if (!needed.has(key)) continue;
      const content = await contents.share(item.content_id);
      if (!content) throw new ContentRemovedError(`The content ${item.content_id} was removed meanwhile.`);
      held.set(key, { set, item, content });
      if (held.size % CHECKED_AT_ONCE === 0) await setImmediate();
    }
  return held;
}

function inputKey({ input_set_id, input_id }: Pick<RequestedRun, 'input_set_id' | 'input_id'>): string {
  return JSON.stringify([input_set_id, input_id]);
}

function plannedOf(
  { optionSets }: BatchRequest,
  wanted: readonly RequestedRun[],
  inputs: ReadonlyMap<string, HeldInput>,
): PlannedRun[] {
  return wanted.map((run, position): PlannedRun => {
    const input = inputs.get(inputKey(run));
    return {
      position,
      instanceId: run.instance_id,
      versionId: run.version_id,
      options: run.option_set === null ? {} : (optionSets.get(run.option_set) ?? {}),
      contentId: input?.content.id ?? '',
      inputFormat: input?.item.input_format ?? 'json',
      inputId: run.input_id as InputId,
      labels: {
        ...(run.option_set === null ? {} : { option_set: run.option_set }),
        ...(run.scenario_id === null ? {} : { scenario_id: run.scenario_id }),
        repetition: run.repetition,
        input_set_id: run.input_set_id,
      },
    };
  });
}

function definitionFor(
  asked: BatchRequest,
  wanted: readonly RequestedRun[],
  objectives: BatchDefinition['objectives'],
  { versions, hidden }: Checked,
): BatchDefinition {
  const distinct = (value: (run: RequestedRun) => string | null): string[] => [
    ...new Set(wanted.flatMap((run) => value(run) ?? [])),
  ];
  return {
    input_set_id: asked.inputSetId,
    instance_ids: [...asked.instanceIds],
    option_sets: Object.fromEntries(asked.optionSets),
    objectives,
    order: {
      instances: distinct((run) => run.instance_id),
      versions: distinct((run) => run.version_id || null),
      option_sets: distinct((run) => run.option_set),
      scenarios: distinct((run) => run.scenario_id),
      inputs: distinct((run) => run.input_id),
    },
    versions: Object.fromEntries(versions),
    hidden: Object.fromEntries([...hidden].map(([name, roles]) => [name, [...roles]])),
  };
}
