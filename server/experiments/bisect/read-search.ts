/** Reads the state of a search from the runs of its experiment. */
import type { Reader } from '../../platform/database/database.ts';
import { findRefusalOfVersion } from '../../runs/store/failures.ts';
import { listPlannedRuns } from '../../runs/store/planned-runs.ts';
import { readObservations } from '../results/read-observations.ts';
import { NotPositiveError } from '../statistics/bisect/effects.ts';
import {
  countDecidingRounds,
  runSearch,
  type SearchResult,
  type SearchSettings,
} from '../statistics/bisect/search.ts';
import { type BisectDefinition, parseBisectDefinition } from '../store/bisect-definition.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { VersionRoundsReader } from './version-rounds.ts';

/** A search so far; `error` is the reason why it cannot continue. */
export type SearchState = { search: SearchResult; error: null } | { search: null; error: string };

/** Returns the settings of the search; a relative difference is the logarithm of a ratio. */
export function buildSearchSettings(definition: BisectDefinition): SearchSettings {
  const { difference, version_ids, input_ids, confidence, maximum_runs } = definition;
  return {
    versions: version_ids,
    difference: difference.type === 'relative' ? Math.log1p(difference.value) : difference.value,
    confidence,
    runsPerRound: 2 * input_ids.length,
    maximumRuns: maximum_runs,
  };
}

/** Computes the search from all runs of the experiment. */
export async function readSearch(db: Reader, experiment: ExperimentsTable): Promise<SearchState> {
  const definition = parseBisectDefinition(experiment);
  const { uid, status } = experiment;
  const settings = { ...buildSearchSettings(definition), plannedRuns: experiment.requested };
  // A stop cancels runs whatever they show.
  const reader = new VersionRoundsReader(definition, {
    isStopped: status === 'canceled',
    roundsMin: countDecidingRounds(settings),
  });
  // Waiting runs come first, so that a run that is created meanwhile is read twice, not missed.
  for (const row of await listPlannedRuns(db, uid, { refused: false, limit: definition.maximum_runs }))
    reader.addWaiting(row);
  for await (const batch of readObservations(db, uid, undefined, { series: false, deleted: true }))
    for (const run of batch) reader.add(run);
  const refusals = new Map<string, string>();
  for (const version of reader.listRefusedVersions())
    refusals.set(version, (await findRefusalOfVersion(db, uid, version)) ?? '');
  const describeRefusal = (version: string): string => refusals.get(version) ?? '';
  const error = reader.describeFailure(describeRefusal);
  if (error !== null) return { search: null, error };
  try {
    return {
      search: runSearch(settings, (version) => reader.read(version, describeRefusal)),
      error: null,
    };
  } catch (caught) {
    if (caught instanceof NotPositiveError) return { search: null, error: caught.message };
    throw caught;
  }
}
