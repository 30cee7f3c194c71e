/**
 * Creates a bisect experiment. One transaction stores the experiment, its own references to the input contents and the runs
 * of the first step. A job continues the search.
 */

import type { ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { lockLiveApplication } from '../../apps/applications/store.ts';
import { findExecutableIds } from '../../apps/versions/store.ts';
import { ContentRemovedError, type SharedContent } from '../../platform/blobs/contents.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import { makeId } from '../../platform/random.ts';
import { insertPlannedRuns } from '../../runs/store/planned-runs.ts';
import { buildRunPlan } from '../operations/build-run-plan.ts';
import { buildExperiment, insertOwnExperiment } from '../operations/experiment-operations.ts';
import { runSearch } from '../statistics/bisect/search.ts';
import { type BisectDefinition, parseBisectDefinition } from '../store/bisect-definition.ts';
import { insertExperimentInputs } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { type BisectCall, defineBisect } from './define-bisect.ts';
import { type BisectInput, planRounds } from './plan-rounds.ts';
import { buildSearchSettings } from './read-search.ts';

type BisectContext = Pick<Context, 'database' | 'contents' | 'clock' | 'random'>;

/** Creates the requested experiment by `store`, and returns the result of `store`. Throws a 4xx for an invalid request. */
export async function createBisect<R>(
  context: BisectContext,
  call: BisectCall,
  store: (experiment: ExperimentsTable, insert: (tx: Writer) => Promise<void>) => Promise<R>,
): Promise<R> {
  const { database, clock, random } = context;
  const { caller, body } = call;
  const { application, sources, definition } = await defineBisect(database.read, call);
  const uid = makeId<string>(random, 'x');
  const inputs = await shareInputs(context, sources);
  const rounds = planFirstRounds(definition);
  const planned = planRounds({ definition, inputs, rounds, position: 0, seed: uid });
  const now = clock.now();
  const experiment = buildExperiment({
    ...{ uid, application, caller, definition, type: 'bisect', requested: planned.length, created_at: now },
    ...{ id: body.id ?? makeId<ExperimentId>(random, 'bisect'), name: body.name },
    description: body.description,
  });
  const stored = await store(experiment, async (tx) => {
    await lockLiveApplication(tx, application);
    await requireVersions(tx, application, definition);
    await insertExperimentWithInputs(tx, experiment, inputs);
    await insertPlannedRuns(tx, buildRunPlan(experiment, now), planned);
  });
  database.notify('runs-planned');
  return stored;
}

interface SharedInput extends BisectInput {
  content: SharedContent;
}

async function shareInputs(
  { contents }: Pick<Context, 'contents'>,
  sources: readonly BisectInput[],
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
  await insertOwnExperiment(tx, experiment);
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
