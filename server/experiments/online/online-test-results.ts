/**
 * Results of shadow and switchback tests as JSON: the stored results of a test that has ended, otherwise those of its runs
 * so far. Computes them again only when the runs have changed.
 */
import { setImmediate } from 'node:timers/promises';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { parseLabels } from '../../runs/run-columns.ts';
import { listDeletedUnitRuns } from '../../runs/store/deleted-runs.ts';
import { findObservedRuns, listObservedRuns, type ObservedRun } from '../../runs/store/experiment-runs.ts';
import { listPlannedRuns } from '../../runs/store/planned-runs.ts';
import type { PlannedRunsTable } from '../../runs/store/schema.ts';
import { countRunsByExperiment } from '../operations/format-experiment.ts';
import type { QuestionMemory } from '../questions/question-memory.ts';
import { describeSettings } from '../questions/rules.ts';
import { SideCollector } from '../questions/side-collector.ts';
import {
  type ShadowResultsRequest,
  SWITCHBACK_RUNS_MAX,
  type SwitchbackResultsRequest,
} from '../results/online-test-analysis.ts';
import { ResultsCache } from '../results/results-cache.ts';
import type { ResultsWorkerPool } from '../results/results-worker-pool.ts';
import type { RawObservation } from '../results/run-reader.ts';
import type { SpreadSettings } from '../results/spread-analysis.ts';
import type { Progress } from '../statistics/comparison/verdict.ts';
import { findExperimentResults } from '../store/experiments.ts';
import { findInputProperties } from '../store/input-properties.ts';
import {
  computePlanEnd,
  countEndedUnits,
  parseShadowDefinition,
  parseSwitchbackDefinition,
  type SwitchbackDefinition,
} from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { listOriginalFields, listUnreadOriginals } from './read-original-fields.ts';

const BATCH_SIZE = 250;
const MINUTE_MS = 60_000;

interface Parts {
  database: Database;
  clock: Clock;
  resultsWorkerPool: ResultsWorkerPool;
  questionMemory: QuestionMemory;
}

/** Reads stored results, and computes and caches those of tests that have not ended. */
export class OnlineTestResults {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #workerPool: ResultsWorkerPool;
  readonly #questionMemory: QuestionMemory;
  readonly #cache = new ResultsCache();

  constructor({ database, clock, resultsWorkerPool, questionMemory }: Parts) {
    this.#questionMemory = questionMemory;
    this.#database = database;
    this.#clock = clock;
    this.#workerPool = resultsWorkerPool;
  }

  /** Returns the stored results, or those of the runs so far, as JSON. */
  async read(test: ExperimentsTable): Promise<string> {
    const { read } = this.#database;
    const stored = await findExperimentResults(read, test.uid);
    if (stored !== undefined) {
      this.#cache.evict(test.uid);
      return stored;
    }
    const counts = (await countRunsByExperiment(read, [test]))(test);
    const unread = (await listUnreadOriginals(read, test)).length;
    const units = this.#countEndedUnits(test);
    const deleted = await listDeletedUnitRuns(read, test.uid);
    const key = JSON.stringify([counts, test.requested, units, describeProgress(test), unread, deleted]);
    return this.#cache.getOrCompute(test.uid, key, () => this.compute(test));
  }

  /** Computes the results of the runs so far, stores the look at their question, and returns them as JSON. */
  async compute(test: ExperimentsTable): Promise<string> {
    const request = await this.#buildRequest(test);
    const collector = new SideCollector();
    const results = await this.#workerPool.compute(request, collector.collect(this.#readRuns(test)));
    const list = (id: string) => collector.listGroups(({ instance_id }) => instance_id === id);
    const { baseline } = request.definition;
    const candidates =
      request.kind === 'shadow' ? request.definition.candidates : [request.definition.candidate];
    return this.#questionMemory.apply({
      ...{ experiment: test, results, collector, rules: describeSettings(request.definition) },
      options: { areLive: true },
      sides: candidates.map((candidate) => ({ control: list(baseline), candidate: list(candidate) })),
    });
  }

  /** Returns the spread that the runs so far show as JSON: an `ObservedSpread`, or null. */
  async estimateSpread(test: ExperimentsTable, settings: SpreadSettings): Promise<string> {
    const of = await this.#buildRequest(test);
    return (await this.#workerPool.compute({ kind: 'spread', of, ...settings }, this.#readRuns(test))).json;
  }

  async #buildRequest(test: ExperimentsTable): Promise<ShadowResultsRequest | SwitchbackResultsRequest> {
    const progress = describeProgress(test);
    if (test.kind === 'shadow') {
      const copies = await countCopies(this.#database.read, test);
      return { kind: 'shadow', definition: parseShadowDefinition(test), seed: test.uid, progress, copies };
    }
    const definition = parseSwitchbackDefinition(test);
    return {
      kind: 'switchback',
      definition,
      endedUnits: this.#countEndedUnits(test),
      skippedUnits: countEndedUnits(definition, test.started_at ?? 0),
      progress,
    };
  }

  #readRuns(test: ExperimentsTable): AsyncGenerator<RawObservation[]> {
    const { read } = this.#database;
    return test.kind === 'shadow'
      ? readShadowRuns(read, test)
      : readSwitchbackRuns(read, test, parseSwitchbackDefinition(test));
  }

  /** Counts the units that ended before the end of the test, or before now. */
  #countEndedUnits(test: ExperimentsTable): number {
    if (test.kind === 'shadow') return 0;
    return countEndedUnits(parseSwitchbackDefinition(test), test.completed_at ?? this.#clock.now());
  }
}

/** Compares the end of the test with the planned end: all units of a plan, or the last copy or the end time of a shadow test. */
export function describeProgress(test: ExperimentsTable): Progress {
  if (test.completed_at === null) return 'running';
  if (test.kind === 'switchback') {
    const end = computePlanEnd(parseSwitchbackDefinition(test));
    return end !== null && test.completed_at >= end ? 'complete' : 'stopped';
  }
  const { until, maximumRuns, candidates } = parseShadowDefinition(test);
  const hasReachedEnd = until !== null && test.completed_at >= until;
  return hasReachedEnd || test.requested >= maximumRuns * candidates.length ? 'complete' : 'stopped';
}

/** Counts the copies of a shadow test. A copy whose original is deleted before the start is deleted with it. */
async function countCopies(db: Reader, test: ExperimentsTable): Promise<ShadowResultsRequest['copies']> {
  const { statuses, planned, refused } = (await countRunsByExperiment(db, [test]))(test);
  const left = Object.values(statuses).reduce((total, count) => total + count, planned + refused);
  return { planned: test.requested, deleted: Math.max(0, test.requested - left) };
}

/** Reads the copies, planned ones included, and their originals. The id of the original is the input of both. */
async function* readShadowRuns(db: Reader, test: ExperimentsTable): AsyncGenerator<RawObservation[]> {
  const { uid } = test;
  const originals = new Set<RunId>();
  const copy = (run: ObservedRun | PlannedRunsTable, status: string, indicators: string): RawObservation => {
    if (run.parent_run_id) originals.add(run.parent_run_id);
    return {
      ...formatSide(run, run.instance_id, run.parent_run_id ?? ''),
      ...('id' in run ? { run_id: run.id } : {}),
      ...{ status, indicators },
    };
  };
  // Waiting copies come first, so that a copy that starts meanwhile is read twice, not missed.
  const waiting = await listPlannedRuns(db, uid, { refused: false, limit: Number.MAX_SAFE_INTEGER });
  const refused = await listPlannedRuns(db, uid, { refused: true, limit: Number.MAX_SAFE_INTEGER });
  const existing = new Set(refused.map(formatCopyKey));
  // Copies that wait or failed to start count for the version of the other copies of their instance.
  const versions = new Map<string, string>();
  for await (const rows of readObservedRuns(db, uid)) {
    for (const row of rows) {
      existing.add(formatCopyKey(row));
      versions.set(row.instance_id, row.version_id);
    }
    yield rows.map((row) => copy(row, row.status, row.indicators));
  }
  const planned = (row: PlannedRunsTable, status: string): RawObservation => ({
    ...copy(row, status, '[]'),
    version_id: row.version_id || (versions.get(row.instance_id) ?? ''),
  });
  yield waiting.filter((row) => !existing.has(formatCopyKey(row))).map((row) => planned(row, 'queued'));
  yield refused.map((row) => planned(row, 'failed'));
  const ids = [...originals].sort();
  const formatOriginal = await createOriginalFormat(db, test);
  for (let from = 0; from < ids.length; from += BATCH_SIZE) {
    yield (await findObservedRuns(db, ids.slice(from, from + BATCH_SIZE))).map(formatOriginal);
    await setImmediate();
  }
}

/** Returns the function that formats an original with its clusters. It is pending until the fields of its input are read. */
async function createOriginalFormat(
  db: Reader,
  test: ExperimentsTable,
): Promise<(row: ObservedRun) => RawObservation> {
  const { baseline } = parseShadowDefinition(test);
  const hasFields = listOriginalFields(test).length > 0;
  const properties = hasFields ? await findInputProperties(db, test.uid) : [];
  const fields = new Map(properties.map(({ input_id, clusters }) => [input_id, clusters]));
  return (row) => ({
    ...formatSide(row, baseline, row.id),
    run_id: row.id,
    status: hasFields && !fields.has(row.id) ? 'queued' : row.status,
    indicators: row.indicators,
    position: row.created_at,
    content: row.input_sha256,
    clusters: { caller: row.user_email, day: formatDay(row.created_at), ...fields.get(row.id) },
  });
}

/** Returns the day of a time, in UTC. */
function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** Returns the key of a copy: its instance and its original. */
function formatCopyKey({ instance_id, parent_run_id }: ObservedRun | PlannedRunsTable): string {
  return JSON.stringify([instance_id, parent_run_id]);
}

async function* readSwitchbackRuns(
  db: Reader,
  { uid }: ExperimentsTable,
  { units, unitMinutes, start, baseline }: SwitchbackDefinition,
): AsyncGenerator<RawObservation[]> {
  let remaining = SWITCHBACK_RUNS_MAX;
  for await (const rows of readObservedRuns(db, uid)) {
    yield rows.slice(0, remaining).map((row) => {
      const unit = row.plan_unit_index ?? -1;
      const isRefused = parseLabels(row).candidate_refused === true;
      const servedBy = isRefused ? baseline : (units[unit] ?? row.instance_id);
      return {
        ...formatSide(row, servedBy, row.input_id ?? row.id),
        ...{ run_id: row.id, content: row.input_sha256 },
        candidate_refused: isRefused,
        status: row.status,
        indicators: row.indicators,
        unit,
        minutes_into_unit: (row.created_at - (start ?? 0)) / MINUTE_MS - unit * unitMinutes,
      };
    });
    remaining -= rows.length;
    if (remaining <= 0) break;
  }
  // They come last, so that a run that is deleted meanwhile is counted twice, not missed.
  for (const { plan_unit_index: unit, runs } of await listDeletedUnitRuns(db, uid)) {
    const side = formatSide({ version_id: '' }, units[unit] ?? baseline, '');
    yield [{ ...side, status: 'deleted', indicators: '[]', unit, deleted_runs: runs }];
  }
}

/** Reads the runs in batches, oldest first. Other requests get processor time between two batches. */
async function* readObservedRuns(db: Reader, uid: string): AsyncGenerator<ObservedRun[]> {
  for (let after: RunId | null = null; ; ) {
    const rows: ObservedRun[] = await listObservedRuns(db, uid, after, BATCH_SIZE);
    yield rows;
    after = rows.at(-1)?.id ?? null;
    if (rows.length < BATCH_SIZE) return;
    await setImmediate();
  }
}

/** Formats the common fields. `instanceId` is the id in the test, also for a run that uses the older id of `latest`. */
function formatSide({ version_id }: { version_id: string }, instanceId: string, inputId: string) {
  return {
    instance_id: instanceId,
    version_id,
    input_id: inputId,
    option_set: null,
    scenario_id: null,
    repetition: null,
  };
}
