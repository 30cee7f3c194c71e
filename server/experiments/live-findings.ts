/**
 * What shadow and switchback tests have found, as JSON: the results that are kept of one that is over, else those of its
 * runs so far, which are worked out again only when they say something else.
 */
import { setImmediate } from 'node:timers/promises';
import type { RunId } from '@switchyard/contract/ids.ts';
import type { Clock } from '../clock.ts';
import type { Database, Reader } from '../database/database.ts';
import { findObserved, listObserved, type ObservedRun } from '../runs/experiment-runs.ts';
import { listPlanned } from '../runs/plan.ts';
import type { PlannedRunsTable } from '../runs/schema.ts';
import type { Unread } from './analyse.ts';
import { countsOf } from './bodies.ts';
import { FindingsCache, findingsOf } from './findings.ts';
import { type ShadowDefinition, shadowOf, switchbackOf, unitsOver } from './live-definitions.ts';
import { SWITCHBACK_RUNS_MAX } from './live-results.ts';
import type { ExperimentsTable } from './schema.ts';
import { findResults } from './store.ts';

const AT_ONCE = 250;

export class LiveFindings {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #cache = new FindingsCache();

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** What the test has found so far, or in the end. */
  async of(test: ExperimentsTable): Promise<string> {
    const { read } = this.#database;
    const kept = await findResults(read, test.uid);
    if (kept !== undefined) {
      this.#cache.forget(test.uid);
      return kept;
    }
    const counts = (await countsOf(read, [test]))(test);
    const key = JSON.stringify([counts, test.requested, this.#unitsOver(test)]);
    return this.#cache.get(test.uid, key, () => this.compute(test));
  }

  /** What it has found, worked out now. */
  compute(test: ExperimentsTable): Promise<string> {
    const { read } = this.#database;
    if (test.kind === 'shadow') {
      const definition = shadowOf(test);
      return findingsOf({ kind: 'shadow', definition, seed: test.uid }, shadowRuns(read, test, definition));
    }
    const definition = switchbackOf(test);
    const question = { kind: 'switchback', definition, over: this.#unitsOver(test) } as const;
    return findingsOf(question, switchbackRuns(read, test, definition.units));
  }

  /** Until the test is over, or until now. */
  #unitsOver(test: ExperimentsTable): number {
    if (test.kind === 'shadow') return 0;
    return unitsOver(switchbackOf(test), test.completed_at ?? this.#clock.now());
  }
}

/** The copies, made or to be made, and the originals that they were made of: the input of both is the original. */
async function* shadowRuns(
  db: Reader,
  { uid }: ExperimentsTable,
  { baseline }: ShadowDefinition,
): AsyncGenerator<Unread[]> {
  const originals = new Set<RunId>();
  const copy = (run: ObservedRun | PlannedRunsTable, status: string, indicators: string): Unread => {
    if (run.parent_run_id) originals.add(run.parent_run_id);
    return { ...sideOf(run, run.instance_id, run.parent_run_id ?? ''), status, indicators };
  };
  // Those that wait come first: one that is born meanwhile is found again then, not lost.
  const waiting = await listPlanned(db, uid, { refused: false, limit: Number.MAX_SAFE_INTEGER });
  const refused = await listPlanned(db, uid, { refused: true, limit: Number.MAX_SAFE_INTEGER });
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
  const unmade = (row: PlannedRunsTable, status: string): Unread => ({
    ...copy(row, status, '[]'),
    version_id: row.version_id || (versions.get(row.instance_id) ?? ''),
  });
  yield waiting.filter((row) => !made.has(placeOf(row))).map((row) => unmade(row, 'queued'));
  yield refused.map((row) => unmade(row, 'failed'));
  const ids = [...originals].sort();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const rows = await findObserved(db, ids.slice(from, from + AT_ONCE));
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
): AsyncGenerator<Unread[]> {
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
    const rows: ObservedRun[] = await listObserved(db, uid, after, AT_ONCE);
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
