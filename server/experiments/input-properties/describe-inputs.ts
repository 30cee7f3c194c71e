/** Reads the clusters and features of the inputs of a new batch, and checks that every property exists. */
import type { InputId, RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Reader } from '../../platform/database/database.ts';
import { splitIntoBatches } from '../../platform/database/id-batches.ts';
import { badRequest, quoteValue } from '../../platform/http/errors/problem.ts';
import type { InputSetItem } from '../../runs/input-sets/store.ts';
import { findInputs } from '../../runs/inputs/store.ts';
import { findObservedRuns, type ObservedRun } from '../../runs/store/experiment-runs.ts';
import { SIMILAR_CONTENT } from '../statistics/paired/relation.ts';
import { type ComparisonSettings, listClusterings } from '../store/comparison-settings.ts';
import type { InputProperties } from '../store/input-properties.ts';
import { groupContents } from './group-contents.ts';
import type { PropertyReader } from './property-reader.ts';
import { listFieldSources, SIZE_FEATURE } from './property-sources.ts';
import { explainContentGroups, warnOfClusters } from './warn-of-clusters.ts';

/** An input of the new batch. */
export interface DescribedInput {
  set: string;
  item: InputSetItem;
  content: { bytes: number };
}

interface Parts {
  database: { read: Reader };
  propertyReader: PropertyReader;
  applicationUid: string;
}

const DAY_CHARS = 'YYYY-MM-DD'.length;

/** The properties of the inputs, and warnings about their clusters. */
export interface DescribedProperties {
  properties: InputProperties[];
  warnings: string[];
}

/**
 * Returns the properties of each input that the settings name. Without `cluster_by`, inputs of mostly equal contents get the
 * group that they form. There are no properties for settings without names and contents without groups. Throws a 400 for
 * a property that no input has, and for inputs that are too large to read.
 */
export async function describeInputs(
  { database, propertyReader, applicationUid }: Parts,
  settings: Pick<ComparisonSettings, 'cluster_by' | 'features' | 'objectives'>,
  inputs: readonly DescribedInput[],
): Promise<DescribedProperties> {
  const clusterings = listClusterings(settings);
  const { features = [] } = settings;
  const readable = inputs.map(({ item, content }) => ({
    contentId: item.content_id,
    input_id: item.input_id,
    input_format: item.input_format,
    content,
  }));
  const groups = settings.cluster_by ? null : groupContents(await propertyReader.sketch(readable));
  const warnings = groups === null ? [] : explainContentGroups(groups);
  if (clusterings.length + features.length === 0 && !groups) return { properties: [], warnings };
  const fields = await propertyReader.read(readable, listFieldSources(settings));
  const needsSource = clusterings.some((name) => name === 'caller' || name === 'day');
  const sources = needsSource ? await findSourceRuns(database.read, applicationUid, inputs) : new Map();
  const properties = inputs.map(({ set, item, content }, index): InputProperties => {
    const found = fields[index] ?? { clusters: {}, features: {} };
    const run: ObservedRun | undefined = sources.get(item.input_id);
    return {
      input_set_id: set,
      input_id: item.input_id,
      clusters: {
        ...found.clusters,
        ...describeSource(run, clusterings),
        ...(groups ? { [SIMILAR_CONTENT]: groups.labels[index] ?? '' } : {}),
      },
      features: { ...found.features, ...(features.includes(SIZE_FEATURE) ? { bytes: content.bytes } : {}) },
    };
  });
  for (const name of clusterings) requireValue('cluster_by', name, properties, ({ clusters }) => clusters);
  for (const name of features) requireValue('features', name, properties, (one) => one.features);
  return { properties, warnings: [...warnings, ...warnOfClusters(properties, clusterings)] };
}

function describeSource(
  run: ObservedRun | undefined,
  clusterings: readonly string[],
): Record<string, string> {
  if (!run) return {};
  const day = new Date(run.created_at).toISOString().slice(0, DAY_CHARS);
  return {
    ...(clusterings.includes('caller') ? { caller: run.user_email } : {}),
    ...(clusterings.includes('day') ? { day } : {}),
  };
}

/** Returns the runs from which the inputs come, by the id of the input: directly, or through a managed input. */
async function findSourceRuns(
  db: Reader,
  applicationUid: string,
  inputs: readonly DescribedInput[],
): Promise<Map<string, ObservedRun>> {
  const runIds = new Map<string, RunId>();
  const managed: InputId[] = [];
  for (const { item } of inputs)
    if (item.run_id) runIds.set(item.input_id, item.run_id);
    else if (isManaged(item)) managed.push(item.input_id);
  for (const batch of splitIntoBatches(managed))
    for (const { id, run_id } of await findInputs(db, applicationUid, batch))
      if (run_id) runIds.set(id, run_id);
  const runs = new Map<string, ObservedRun>();
  const ids = [...new Set(runIds.values())];
  for (const batch of splitIntoBatches(ids))
    for (const run of await findObservedRuns(db, batch)) runs.set(run.id, run);
  return new Map(
    [...runIds].flatMap(([input, id]): [string, ObservedRun][] => {
      const run = runs.get(id);
      return run ? [[input, run]] : [];
    }),
  );
}

function isManaged(item: InputSetItem): item is InputSetItem & { input_id: InputId } {
  return item.run_id === null;
}

function requireValue(
  field: string,
  name: string,
  properties: readonly InputProperties[],
  readValues: (one: InputProperties) => object,
): void {
  if (properties.some((one) => Object.hasOwn(readValues(one), name))) return;
  throw badRequest(
    name === 'caller' || name === 'day'
      ? `${field} names ${quoteValue(name)}, but no input comes from a run that still exists; name a field of the input, such as "/depot" or "day:/departure".`
      : `${field} names ${quoteValue(name)}, and no input has such a field of a usable type; inputs must be JSON, and a text of a feature has at most 100 characters.`,
  );
}
