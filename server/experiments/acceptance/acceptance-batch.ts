/** Checks the batch experiment of an acceptance test, or builds the request for a new one. */

import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { AcceptanceTestCreate } from '@switchyard/contract/experiments/acceptance-tests.ts';
import type { BatchExperimentCreate } from '@switchyard/contract/experiments/batch-experiments.ts';
import { ID_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { type ExperimentId, ID_PATTERN, type InstanceId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { findInstance } from '../../apps/instances/store.ts';
import { findVersion } from '../../apps/versions/store.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import { type InstanceVersion, listInstanceVersions } from '../../runs/store/experiment-runs.ts';
import { findEnsemble } from '../ensembles/store.ts';
import {
  type AcceptanceDefinition,
  type AcceptanceSide,
  belongsToSide,
  isSameInstance,
} from '../store/acceptance-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';

const SIDES = ['control', 'candidate'] as const;

/** Throws a 400 for a batch without runs of one of the sides, and for a scenario test. */
export async function checkAcceptanceBatch(
  db: Reader,
  application: ApplicationsTable,
  batch: ExperimentsTable,
  definition: AcceptanceDefinition,
): Promise<void> {
  if (batch.type !== 'batch')
    throw badRequest(
      `experiment_id is ${quoteValue(batch.id)}, which is a ${batch.type} test; it must be a batch experiment of this application.`,
    );
  const groups = await listExpectedVersions(db, application, batch);
  for (const name of SIDES) {
    const side = definition[name];
    if (groups.some((group) => belongsToSide(side, group))) continue;
    if (side.ensemble_id !== undefined)
      throw badRequest(
        `${name}.ensemble_id is ${quoteValue(side.ensemble_id)}, of which the batch experiment ${quoteValue(batch.id)} has no run; it has runs of ${formatNames(groups.map((group) => group.ensemble_id ?? group.instance_id))}.`,
      );
    const ofInstance = groups.filter((group) => isSameInstance(side.instance_id, group.instance_id));
    if (ofInstance.length > 0)
      throw badRequest(
        `${name}.version_id is ${quoteValue(side.version_id)}, and the batch experiment ${quoteValue(batch.id)} has no run of that version of the instance ${quoteValue(side.instance_id)}; it has ${formatNames(ofInstance.map((group) => group.version_id))}.`,
      );
    throw badRequest(
      `${name}.instance_id is ${quoteValue(side.instance_id)}, of which the batch experiment ${quoteValue(batch.id)} has no run; it has runs of ${formatNames(groups.map((group) => group.instance_id))}.`,
    );
  }
}

/** Throws a 400 for a side whose instance, version or ensemble does not exist. */
export async function checkAcceptanceSides(
  db: Reader,
  application: ApplicationsTable,
  definition: AcceptanceDefinition,
): Promise<void> {
  for (const name of SIDES) {
    const { instance_id, version_id, ensemble_id }: AcceptanceSide = definition[name];
    if (ensemble_id !== undefined) {
      if (await findEnsemble(db, application.uid, ensemble_id)) continue;
      throw badRequest(
        `${name}.ensemble_id is ${quoteValue(ensemble_id)}; it must be an ensemble of this application.`,
      );
    }
    if (!isLatest(instance_id) && !(await findInstance(db, application.uid, instance_id)))
      throw badRequest(
        `${name}.instance_id is ${quoteValue(instance_id)}; it must be an instance of this application.`,
      );
    if (version_id !== '' && !(await findVersion(db, application.uid, version_id)))
      throw badRequest(
        `${name}.version_id is ${quoteValue(version_id)}; it must be a version of this application.`,
      );
  }
}

/** Builds the request for a new batch. Throws a 400 without an input set, and for an id that a batch cannot have. */
export function buildBatchRequest(
  id: ExperimentId,
  { control, candidate }: AcceptanceDefinition,
  {
    id: ownId,
    name,
    input_set_id,
    repetitions,
    cluster_by,
    features,
    priority,
    max_duration,
  }: AcceptanceTestCreate,
): BatchExperimentCreate {
  if (!input_set_id)
    throw badRequest(
      `experiment_id is ${quoteValue(id)}, and no batch experiment has that id; name an existing one, or give input_set_id to create it.`,
    );
  if (!ID.test(id))
    throw badRequest(
      `experiment_id is ${quoteValue(id)}; a new batch experiment has an id of 1 to ${ID_CHARS_MAX} lowercase letters, digits and hyphens, such as ${quoteValue(suggestId(id) || 'v1-0-0')}.`,
    );
  const sides = [control, candidate];
  // The name of a test can be its id, which may be shorter than another experiment's name may be.
  const batch = {
    id,
    name: name === ownId ? id : name,
    input_set_id,
    cluster_by,
    features,
    priority,
    max_duration,
    // The rules of the test decide, not the objective of the application.
    objectives: {},
  };
  if (sides.every(({ version_id, ensemble_id }) => version_id === '' && ensemble_id === undefined))
    return { ...batch, instance_ids: sides.map(({ instance_id }) => instance_id), repetitions };
  // A run without an input runs on every input of the set.
  const runs = sides.flatMap(({ ensemble_id, ...side }) => {
    const run = ensemble_id === undefined ? side : { ensemble_id };
    return Array.from({ length: repetitions ?? 1 }, (_, repetition) => ({ ...run, repetition }));
  });
  return { ...batch, runs };
}

const ID = new RegExp(ID_PATTERN);

/** Returns an error message for a request that describes a new batch although the batch exists; null for none. */
export function findUnusedBatchFieldError(
  batch: ExperimentsTable,
  { input_set_id, repetitions, cluster_by, features, priority, max_duration }: AcceptanceTestCreate,
): string | null {
  for (const [name, value] of [
    ['input_set_id', input_set_id],
    ['repetitions', repetitions],
    ['cluster_by', cluster_by],
    ['features', features],
    ['priority', priority],
    ['max_duration', max_duration],
  ] as const)
    if (value !== undefined && value !== null)
      return `${name} is ${quoteValue(value)}, but the batch experiment ${quoteValue(batch.id)} exists already; leave ${name} out to test its runs, or choose another id.`;
  return null;
}

/** Lists the instances and versions of the runs and planned runs of the batch. */
async function listExpectedVersions(
  db: Reader,
  application: ApplicationsTable,
  batch: ExperimentsTable,
): Promise<InstanceVersion[]> {
  const groups = await listInstanceVersions(db, batch.uid);
  return Promise.all(
    groups.map(async ({ planned, ...group }) => {
      // A planned run gets the version that its instance has at the start of the run.
      if (!planned || group.version_id !== '' || isLatest(group.instance_id)) return group;
      const instance = await findInstance(db, application.uid, group.instance_id as InstanceId);
      return { ...group, version_id: instance?.version_id ?? '' };
    }),
  );
}

/** Formats the distinct names as a list of at most LISTED_NAMES_MAX, then the number of the others. */
function formatNames(names: readonly string[]): string {
  const distinct = [...new Set(names.filter((name) => name !== ''))];
  const some = distinct.slice(0, LISTED_NAMES_MAX).map(quoteValue);
  if (distinct.length > LISTED_NAMES_MAX) some.push(`${distinct.length - LISTED_NAMES_MAX} more`);
  return some.length === 0 ? 'none' : some.join(', ');
}

const LISTED_NAMES_MAX = 10;
