/**
 * What shadow and switchback tests have found, as JSON: the results that are kept of one that is over, else those of its
 * runs so far, which are worked out again only when they say something else.
 */
import { setImmediate } from 'node:timers/promises';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Reader } from '../../database/database.ts';
import { findObservedRuns, listObservedRuns, type ObservedRun } from '../../runs/store/experiment-runs.ts';
import { listPlannedRuns } from '../../runs/store/planned-runs.ts';
import type { PlannedRunsTable } from '../../runs/store/schema.ts';
import { countRunsByExperiment } from '../operations/format-experiment.ts';
import type { RawObservation } from '../results/batch-analysis.ts';
import { SWITCHBACK_RUNS_MAX } from '../results/online-test-analysis.ts';
import { computeInWorkerPool, ResultsCache } from '../results/results-worker-pool.ts';
import { findExperimentResults } from '../store/experiments.ts';
import {
  countEndedUnits,
  parseShadowDefinition,
  parseSwitchbackDefinition,
  type ShadowDefinition,
} from '../store/online-test-definitions.ts';
import type { ExperimentsTable } from '../store/schema.ts';

const AT_ONCE = 250;

export class OnlineTestResults {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #cache = new ResultsCache();

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** What the test has found so far, or in the end. */
  async read(test: ExperimentsTable): Promise<string> {
    const { read } = this.#database;
    const kept = await findExperimentResults(read, test.uid);
    if (kept !== undefined) {
      this.#cache.evict(test.uid);
      return kept;
    }
    const counts = (await countRunsByExperiment(read, [test]))(test);
    const key = JSON.stringify([counts, test.requested, this.#unitsOver(test)]);
    return this.#cache.getOrCompute(test.uid, key, () => this.compute(test));
  }

  /** What it has found, worked out now. */
  compute(test: ExperimentsTable): Promise<string> {
    const { read } = this.#database;
    if (test.kind === 'shadow') {
      const definition = parseShadowDefinition(test);
      return computeInWorkerPool(
        { kind: 'shadow', definition, seed: test.uid },
        shadowRuns(read, test, definition),
      );
    }
    const definition = parseSwitchbackDefinition(test);
    const question = { kind: 'switchback', definition, over: this.#unitsOver(test) } as const;
    return computeInWorkerPool(question, switchbackRuns(read, test, definition.units));
  }

  /** Until the test is over, or until now. */
  #unitsOver(test: ExperimentsTable): number {
    if (test.kind === 'shadow') return 0;
    return countEndedUnits(parseSwitchbackDefinition(test), test.completed_at ?? this.#clock.now());
  }
}

/** The copies, made or to be made, and the originals that they were made of: the input of both is the original. */
async function* shadowRuns(
  db: Reader,
  { uid }: ExperimentsTable,
  { baseline }: ShadowDefinition,
): AsyncGenerator<RawObservation[]> {
  const originals = new Set<RunId>();
  const copy = (run: ObservedRun | PlannedRunsTable, status: string, indicators: string): RawObservation => {
    if (run.parent_run_id) originals.add(run.parent_run_id);
    return { ...sideOf(run, run.instance_id, run.parent_run_id ?? ''), status, indicators };
  };
  // Those that wait come first: one that is born meanwhile is found again then, not lost.
  const waiting = await listPlannedRuns(db, uid, { refused: false, limit: Number.MAX_SAFE_INTEGER });
  const refused = await listPlannedRuns(db, uid, { refused: true, limit: Number.MAX_SAFE_INTEGER });
  const made = new Set(refused.map(placeOf));
  // A copy that is not made, or cannot be, counts with those of its instance that are.
  const versions = new Map<string, string>();
  for await (const rows of observedRuns(db, uid)) {
    for (const row of rows) {
      made.add(placeOf(row));
      versions.set(row.instance_id, row.version_id);
    }
    yield rows.map((row) => copy(row, row.status, row.indicators));
  }
  const unmade = (row: PlannedRunsTable, status: string): RawObservation => ({
    ...copy(row, status, '[]'),
    version_id: row.version_id || (versions.get(row.instance_id) ?? ''),
  });
  yield waiting.filter((row) => !made.has(placeOf(row))).map((row) => unmade(row, 'queued'));
  yield refused.map((row) => unmade(row, 'failed'));
  const ids = [...originals].sort();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const rows = await findObservedRuns(db, ids.slice(from, from + AT_ONCE));
    yield rows.map((row) => ({
      ...sideOf(row, baseline, row.id),
      status: row.status,
      indicators: row.indicators,
    }));
    await setImmediate();
  }
}

/** Which copy of which original it is. */
function placeOf({ instance_id, parent_run_id }: ObservedRun | PlannedRunsTable): string {
  return JSON.stringify([instance_id, parent_run_id]);
}

async function* switchbackRuns(
  db: Reader,
  { uid }: ExperimentsTable,
  units: readonly string[],
): AsyncGenerator<RawObservation[]> {
  let left = SWITCHBACK_RUNS_MAX;
  for await (const rows of observedRuns(db, uid)) {
    yield rows.slice(0, left).map((row) => {
      const unit = row.plan_unit_index ?? -1;
      const side = sideOf(row, units[unit] ?? row.instance_id, row.input_id ?? row.id);
      return { ...side, status: row.status, indicators: row.indicators, unit };
    });
    left -= rows.length;
    if (left <= 0) return;
  }
}

/** Oldest first, by their ids; between two parts others are answered. */
async function* observedRuns(db: Reader, uid: string): AsyncGenerator<ObservedRun[]> {
  for (let after: RunId | null = null; ; ) {
    const rows: ObservedRun[] = await listObservedRuns(db, uid, after, AT_ONCE);
    yield rows;
    after = rows.at(-1)?.id ?? null;
    if (rows.length < AT_ONCE) return;
    await setImmediate();
  }
}

/** `instanceId` is the instance as the test names it, whichever of its names the run was made by. */
function sideOf({ version_id }: { version_id: string }, instanceId: string, inputId: string) {
  return {
    instance_id: instanceId,
    version_id,
    input_id: inputId,
    option_set: null,
    scenario_id: null,
    repetition: null,
  };
}
