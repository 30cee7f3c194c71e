/** The definition of a bisect experiment that a request describes, by the rules that its plan and its creation share. */
import { bisect } from '@switchyard/contract/experiment-types/bisect.ts';
import type { BisectExperimentCreate } from '@switchyard/contract/experiments/bisect/bisect-experiments.ts';
import { BATCH_RUNS_MAX, BISECT_INPUTS_MAX, BISECT_VERSIONS_MAX } from '@switchyard/contract/limits.ts';
import type { VersionId } from '@switchyard/contract/schemas/ids.ts';
import { readMeaning } from '../../apps/applications/meaning.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import type { VersionsTable } from '../../apps/versions/schema.ts';
import { findVersion, listVersionIdsBetween } from '../../apps/versions/store.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationCall } from '../../platform/http/handlers/handler.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { findInputSet } from '../../runs/input-sets/store.ts';
import { findInputs } from '../../runs/inputs/store.ts';
import { resolvePlannedRun } from '../../runs/submit/resolve-instance.ts';
import { parseRunSettings } from '../operations/build-run-plan.ts';
import { idInUse } from '../operations/experiment-operations.ts';
import { countRunsMin } from '../statistics/bisect/search.ts';
import { type BisectDefinition, parseBisectDefinition } from '../store/bisect-definition.ts';
import type { RunSettings } from '../store/comparison-settings.ts';
import { findExperiment } from '../store/experiments.ts';
import type { BisectInput } from './plan-rounds.ts';
import { buildSearchSettings } from './read-search.ts';

/** A request to create a bisect experiment, or to plan it. */
export type BisectCall = Pick<OperationCall<'createBisectExperiment'>, 'caller' | 'params' | 'body'>;

interface RequestedBisect {
  application: ApplicationsTable;
  /** The inputs, whose contents are not yet shared with the experiment. */
  sources: BisectInput[];
  definition: BisectDefinition;
}

const CONFIDENCE_DEFAULT = 0.95;

/** Returns the requested experiment, of which nothing is stored. Throws a 4xx for an invalid request. */
export async function defineBisect(
  db: Reader,
  { caller, params, body }: BisectCall,
): Promise<RequestedBisect> {
  const application = await getApplication(db, caller.account, params.application_id);
  const { id = null, name } = body;
  validateName(name, id ?? '');
  const sources = await findInputSources(db, application, body);
  const definition = await buildDefinition(db, application, body, sources);
  if (id !== null && (await findExperiment(db, application.uid, bisect.kind, id))) throw idInUse(bisect, id);
  return { application, sources, definition };
}

/** Returns the inputs of the request. Throws a 400 when they are missing, too many or given twice. */
async function findInputSources(
  db: Reader,
  application: ApplicationsTable,
  { input_set_id, input_ids }: BisectExperimentCreate,
): Promise<BisectInput[]> {
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
  sources: readonly BisectInput[],
): Promise<BisectDefinition> {
  if (body.difference.value <= 0)
    throw badRequest(
      `difference.value is ${body.difference.value}; it must be above 0, because equal versions differ by noise alone.`,
    );
  const { objective } = readMeaning(application);
  const direction = objective?.name === body.indicator ? objective.direction : 'minimize';
  const values = {
    input_set_id: body.input_set_id ?? '',
    input_ids: sources.map(({ input_id }) => input_id),
    instance_id: body.instance_id ?? '',
    good_version_id: body.good_version_id,
    bad_version_id: body.bad_version_id,
    indicator: body.indicator,
    direction: body.direction ?? direction,
    difference: body.difference,
    confidence: body.confidence ?? CONFIDENCE_DEFAULT,
    maximum_runs: body.maximum_runs ?? BATCH_RUNS_MAX,
    version_ids: await listVersions(db, application, body),
    ...parseRunSettings(body),
  } satisfies Record<Exclude<keyof BisectDefinition, keyof RunSettings>, unknown>;
  const definition = parseBisectDefinition({ uid: 'of the request', definition: JSON.stringify(values) });
  const { instance_id, version_ids, maximum_runs } = definition;
  for (const version of [body.good_version_id, body.bad_version_id])
    await resolvePlannedRun(db, application, instance_id, version).catch((error: unknown) => {
      if (!(error instanceof Problem && error.status === 404)) throw error;
      throw badRequest(
        `instance_id is ${quoteValue(instance_id)}; it must be an instance of this application.`,
      );
    });
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
