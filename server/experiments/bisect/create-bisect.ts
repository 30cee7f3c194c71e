/**
 * Creates a bisect experiment. One transaction stores the experiment, its own references to the input contents and the runs
 * of the first step. A job continues the search.
 */
import type { BisectExperimentCreate } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import { BATCH_RUNS_MAX, BISECT_INPUTS_MAX, BISECT_VERSIONS_MAX } from '@switchyard/contract/limits.ts';
import type { ExperimentId, VersionId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { getApplication, lockLiveApplication } from '../../applications/store.ts';
import { ContentRemovedError, type SharedContent } from '../../blobs/contents.ts';
import type { Reader, Writer } from '../../database/database.ts';
import { badRequest, quoteValue } from '../../http/errors/problem.ts';
import type { Context } from '../../http/handlers/context.ts';
import type { OperationCall } from '../../http/handlers/handler.ts';
import { validateName } from '../../http/requests/resource-names.ts';
import { findInputSet } from '../../input-sets/store.ts';
import { findInputs } from '../../inputs/store.ts';
import { makeId } from '../../random.ts';
import { insertPlannedRuns } from '../../runs/store/planned-runs.ts';
import { resolvePlannedRun } from '../../runs/submit/resolve-instance.ts';
import type { VersionsTable } from '../../versions/schema.ts';
import { findExecutableIds, findVersion, listVersionIdsBetween } from '../../versions/store.ts';
import { countRunsMin, runSearch } from '../statistics/bisect/search.ts';
import { type BisectDefinition, parseBisectDefinition } from '../store/bisect-definition.ts';
import { insertExperimentInputs } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { insertExperiment } from '../store/transitions.ts';
import { type BisectInput, planRounds } from './plan-rounds.ts';
import { buildSearchSettings } from './read-search.ts';

type BisectContext = Pick<Context, 'database' | 'contents' | 'clock' | 'random'>;
type CreateBisectCall = Pick<OperationCall<'createBisectExperiment'>, 'caller' | 'params' | 'body'>;

const CONFIDENCE_DEFAULT = 0.95;

/** Creates the requested experiment by `store`, and returns the result of `store`. Throws a 4xx for an invalid request. */
export async function createBisect<R>(
  context: BisectContext,
  call: CreateBisectCall,
  store: (experiment: ExperimentsTable, insert: (tx: Writer) => Promise<void>) => Promise<R>,
): Promise<R> {
  const { database, clock, random } = context;
  const { caller, params, body } = call;
  const application = await getApplication(database.read, caller.account, params.application_id);
  const uid = makeId<string>(random, 'x');
  const id = body.id ?? makeId<ExperimentId>(random, 'bisect');
  validateName(body.name, id);
  const sources = await findInputSources(database.read, application, body);
  const definition = await buildDefinition(database.read, application, body, sources);
  const inputs = await shareInputs(context, sources);
  const rounds = planFirstRounds(definition);
  const planned = planRounds({ definition, inputs, rounds, position: 0, seed: uid });
  const now = clock.now();
  const experiment: ExperimentsTable = {
    uid,
    application_uid: application.uid,
    application_id: application.id,
    account_id: application.account_id,
    kind: 'bisect',
    id,
    type: 'bisect',
    name: body.name,
    description: body.description ?? '',
    status: 'started',
    user_email: caller.email,
    definition: JSON.stringify(definition),
    requested: planned.length,
    created_at: now,
    updated_at: now,
    started_at: now,
    completed_at: null,
    deleted_at: null,
  };
  const stored = await store(experiment, async (tx) => {
    await lockLiveApplication(tx, application);
    await requireVersions(tx, application, definition);
    await insertExperimentWithInputs(tx, experiment, inputs);
    const plan = {
      ownerUid: uid,
      applicationUid: application.uid,
      plannedAt: now,
      userEmail: caller.email,
      experiment: { uid, id, type: experiment.type },
    };
    await insertPlannedRuns(tx, plan, planned);
  });
  database.notify('runs-planned');
  return stored;
}

interface InputSource {
  input_id: string;
  content_id: string;
  input_format: BisectInput['input_format'];
}

/** Returns the inputs of the request. Throws a 400 when they are missing, too many or given twice. */
async function findInputSources(
  db: Reader,
  application: ApplicationsTable,
  { input_set_id, input_ids }: BisectExperimentCreate,
): Promise<InputSource[]> {
  if (Boolean(input_set_id) === Boolean(input_ids))
    throw badRequest('Give either input_set_id or input_ids; the search runs these inputs.');
  if (input_set_id) {
    const set = await findInputSet(db, application.uid, input_set_id);
    if (!set)
      throw badRequest(
        `input_set_id is ${quoteValue(input_set_id)}; it must be an input set of this application.`,
      );
    if (set.items.length > BISECT_INPUTS_MAX)
      throw badRequest(
        `input_set_id is ${quoteValue(input_set_id)}, which has ${set.items.length} inputs; a bisect experiment has at most ${BISECT_INPUTS_MAX}.`,
      );
    return [...set.items];
  }
  const ids = input_ids ?? [];
  const duplicate = ids.find((id, index) => ids.indexOf(id) < index);
  if (duplicate !== undefined)
    throw badRequest(`input_ids names ${quoteValue(duplicate)} twice; name each input once.`);
  const found = new Map((await findInputs(db, application.uid, ids)).map((input) => [input.id, input]));
  return ids.map((id) => {
    const input = found.get(id);
    if (!input)
      throw badRequest(`input_ids has ${quoteValue(id)}; each must be a managed input of this application.`);
    return { input_id: id, content_id: input.content_id, input_format: input.input_format };
  });
}

async function buildDefinition(
  db: Reader,
  application: ApplicationsTable,
  body: BisectExperimentCreate,
  sources: readonly InputSource[],
): Promise<BisectDefinition> {
  if (body.difference.value <= 0)
    throw badRequest(
      `difference.value is ${body.difference.value}; it must be above 0, because equal versions differ by noise alone.`,
    );
  const values = {
    input_set_id: body.input_set_id ?? '',
    input_ids: sources.map(({ input_id }) => input_id),
    instance_id: body.instance_id ?? '',
    good_version_id: body.good_version_id,
    bad_version_id: body.bad_version_id,
    indicator: body.indicator,
    direction: body.direction ?? 'minimize',
    difference: body.difference,
    confidence: body.confidence ?? CONFIDENCE_DEFAULT,
    maximum_runs: body.maximum_runs ?? BATCH_RUNS_MAX,
    version_ids: await listVersions(db, application, body),
  } satisfies Record<keyof BisectDefinition, unknown>;
  const definition = parseBisectDefinition({ definition: JSON.stringify(values) });
  const { instance_id, version_ids, maximum_runs } = definition;
  for (const version of [body.good_version_id, body.bad_version_id])
    await resolvePlannedRun(db, application, instance_id, version);
  const needed = countRunsMin(buildSearchSettings(definition));
  if (needed > maximum_runs)
    throw badRequest(
      `maximum_runs is ${maximum_runs}; a search over ${version_ids.length} versions with ${sources.length} inputs needs at least ${needed} runs. ${needed > BATCH_RUNS_MAX ? 'Give fewer inputs or versions closer to each other.' : `Give ${needed} or more.`}`,
    );
  return definition;
}

/** Returns the versions of the search. Throws a 400 for a missing version, and for a bad one that is not later. */
async function listVersions(
  db: Reader,
  application: ApplicationsTable,
  { good_version_id, bad_version_id }: BisectExperimentCreate,
): Promise<VersionId[]> {
  const find = async (field: string, id: VersionId): Promise<VersionsTable> => {
    const version = await findVersion(db, application.uid, id);
    if (version) return version;
    throw badRequest(`${field} is ${quoteValue(id)}; it must be a version of this application.`);
  };
  const good = await find('good_version_id', good_version_id);
  const bad = await find('bad_version_id', bad_version_id);
  const ids = await listVersionIdsBetween(db, good, bad, BISECT_VERSIONS_MAX + 1);
  if (ids.length < 2)
    throw badRequest(
      `bad_version_id is ${quoteValue(bad_version_id)}; it must be a version that was created after ${quoteValue(good_version_id)}.`,
    );
  if (ids.length > BISECT_VERSIONS_MAX)
    throw badRequest(
      `There are more than ${BISECT_VERSIONS_MAX} versions from ${quoteValue(good_version_id)} to ${quoteValue(bad_version_id)}; give versions closer to each other.`,
    );
  return ids;
}

interface SharedInput extends BisectInput {
  content: SharedContent;
}

async function shareInputs(
  { contents }: Pick<Context, 'contents'>,
  sources: readonly InputSource[],
): Promise<SharedInput[]> {
  const shared: SharedInput[] = [];
  for (const { input_id, content_id, input_format } of sources) {
    const content = await contents.share(content_id);
    if (!content) throw inputRemoved(input_id);
    shared.push({ input_id, input_format, content_id: content.id, content });
  }
  return shared;
}

const inputRemoved = (id: string) =>
  badRequest(`The input ${quoteValue(id)} was deleted meanwhile; send the request again.`);

/** Returns the rounds of the first step, which a search without any run plans. */
function planFirstRounds(definition: BisectDefinition) {
  const { next } = runSearch(buildSearchSettings(definition), () => ({ rounds: [], obstacle: null }));
  if (next === null) throw new Error('A search without runs plans no rounds.');
  return next;
}

/** Throws a 400 for a version that was deleted after the request read it. */
async function requireVersions(
  tx: Writer,
  application: ApplicationsTable,
  { version_ids }: BisectDefinition,
): Promise<void> {
  const found = await findExecutableIds(tx, application.uid, version_ids);
  const deleted = version_ids.find((id) => !found.has(id));
  if (deleted !== undefined)
    throw badRequest(`The version ${quoteValue(deleted)} was deleted meanwhile; send the request again.`);
}

async function insertExperimentWithInputs(
  tx: Writer,
  experiment: ExperimentsTable,
  inputs: readonly SharedInput[],
): Promise<void> {
  if (!(await insertExperiment(tx, experiment)))
    throw badRequest(
      `id is ${quoteValue(experiment.id)}, which another bisect experiment of the application has; choose another.`,
    );
  for (const { content, input_id } of inputs)
    await content.insert(tx).catch((error: unknown) => {
      throw error instanceof ContentRemovedError ? inputRemoved(input_id) : error;
    });
  const { uid } = experiment;
  const { input_set_id } = parseBisectDefinition(experiment);
  await insertExperimentInputs(
    tx,
    inputs.map(({ input_id, content_id, input_format }) => ({
      experiment_uid: uid,
      input_set_id,
      input_id,
      content_id,
      input_format,
    })),
  );
}
