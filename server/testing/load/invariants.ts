/** Checks the invariants after the chaos test in the database and the blobs of the stopped server. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { canTransition, isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import pg from 'pg';
import { type AcknowledgedRun, expectedOutput } from './run-load.ts';

export type RunQuery = (sql: string) => Promise<Record<string, unknown>[]>;

/** Opens the PostgreSQL database of the address; with an empty address, the SQLite database of the data folder. */
export async function openQuery(
  data: string,
  address: string,
): Promise<{ query: RunQuery; close(): Promise<void> }> {
  if (address === '') {
    const database = new DatabaseSync(join(data, 'switchyard.db'), { readOnly: true, timeout: 10_000 });
    return {
      query: async (sql) => database.prepare(sql).all(),
      close: async () => database.close(),
    };
  }
  const client = new pg.Client({ connectionString: address });
  // The chaos test may kill the database between two queries. The next query reports it; an error event without a listener
  // would end this process.
  client.on('error', () => {});
  await client.connect();
  return { query: async (sql) => (await client.query(sql)).rows, close: () => client.end() };
}

/** The run in the last response of the API. */
export interface ObservedRun {
  status_v2: RunStatusV2;
  error: string;
  output?: unknown;
}

export interface CheckResult {
  /** The number of acknowledged runs that do not exist or have not ended. */
  lost: number;
  violations: string[];
  counts: Record<string, number>;
}

/** The faults that the chaos test injected into single runs. */
export interface KnownFaults {
  /** Runs whose app was killed. */
  killedRuns: ReadonlySet<string>;
  /** Returns true if the disk was full while the run may have been executed, which fails apps that write to it. */
  overlapsFullDisk(run: AcknowledgedRun): boolean;
}

/** Compares the acknowledged runs with the last responses about them. */
export function checkRunOutcomes(
  acknowledged: readonly AcknowledgedRun[],
  observed: ReadonlyMap<string, ObservedRun>,
  { killedRuns, overlapsFullDisk }: KnownFaults,
): CheckResult {
  const result: CheckResult = { lost: 0, violations: [], counts: {} };
  const count = (outcome: string): void => {
    result.counts[outcome] = (result.counts[outcome] ?? 0) + 1;
  };
  for (const run of acknowledged) {
    const found = observed.get(run.id);
    if (!found || !isTerminal(found.status_v2)) {
      result.lost += 1;
      result.violations.push(`${run.id} was acknowledged and is ${found?.status_v2 ?? 'missing'}`);
      continue;
    }
    count(found.status_v2);
    const violation = findOutcomeViolation(run, found, killedRuns.has(run.id) || run.isEnsemble);
    if (violation && found.status_v2 === 'failed' && overlapsFullDisk(run))
      count('failed because the disk was full');
    else if (violation) result.violations.push(`${run.id}: ${violation}`);
    if (found.error.includes('was started 5 times')) count('failed after five attempts');
    if (found.status_v2 === 'failed' && killedRuns.has(run.id)) count('failed because the app was killed');
  }
  return result;
}

function findOutcomeViolation(run: AcknowledgedRun, found: ObservedRun, wasKilled: boolean): string | null {
  if (found.status_v2 === 'succeeded') {
    if (run.input.exit > 0) return 'succeeded although its app fails';
    const expected = JSON.stringify(expectedOutput(run.input));
    return JSON.stringify(found.output) === expected
      ? null
      : 'succeeded with an output that does not match its input';
  }
  if (found.status_v2 === 'canceled') return run.isCancelRequested ? null : 'canceled without a request';
  const isIntended = run.input.exit > 0 && found.error.includes(`exit code ${run.input.exit}`);
  const isLastAttempt = found.error.includes('was started 5 times');
  const isKilled = wasKilled && found.error.includes('SIGKILL');
  return isIntended || isLastAttempt || isKilled ? null : `failed: ${found.error}`;
}

interface RunRow {
  id: string;
  status: RunStatusV2;
  attempt: number;
  fence: number;
  worker_id: string | null;
  run_type: string;
}

function parseRunRow(row: Record<string, unknown>): RunRow {
  return {
    id: String(row.id),
    status: row.status as RunStatusV2,
    attempt: Number(row.attempt),
    fence: Number(row.fence),
    worker_id: row.worker_id === null ? null : String(row.worker_id),
    run_type: String(row.run_type),
  };
}

/** Checks that the events of every run are a valid sequence of transitions, and that its counters match them. */
export async function checkRunEvents(query: RunQuery): Promise<string[]> {
  const rows = await query('select id, status, attempt, fence, worker_id, run_type from runs');
  const runs = rows.map(parseRunRow);
  const statusesByRun = new Map<string, RunStatusV2[]>();
  for (const row of await query('select run_id, status from run_events order by seq')) {
    const runId = String(row.run_id);
    const statuses = statusesByRun.get(runId) ?? [];
    statusesByRun.set(runId, statuses);
    statuses.push(row.status as RunStatusV2);
  }
  return runs.flatMap((run) => {
    const violation = findEventViolation(run, statusesByRun.get(run.id) ?? []);
    return violation ? [`${run.id}: ${violation}`] : [];
  });
}

function findEventViolation(run: RunRow, statuses: readonly RunStatusV2[]): string | null {
  const sequence = statuses.join(' → ');
  // An ensemble run is running from the start, and no worker claims it.
  const first = run.run_type === 'ensemble' ? 'running' : 'queued';
  if (statuses[0] !== first) return `its first event is not ${first}: ${sequence}`;
  for (const [index, status] of statuses.slice(1).entries()) {
    const before = statuses[index] ?? 'none';
    if (!canTransition(before, status))
      return `has the invalid transition from ${before} to ${status}: ${sequence}`;
  }
  if (statuses.at(-1) !== run.status) return `is ${run.status}, but its events are ${sequence}`;
  if (statuses.filter(isTerminal).length !== 1) return `has not exactly one terminal event: ${sequence}`;
  const claims = run.run_type === 'ensemble' ? 0 : statuses.filter((status) => status === 'running').length;
  if (run.fence !== claims) return `has the fencing token ${run.fence} after ${claims} claims`;
  // An attempt that a shutdown interrupted does not count. A run that was then canceled in the queue may have no other.
  const attemptMin = statuses.at(-2) === 'running' && run.run_type !== 'ensemble' ? 1 : 0;
  if (run.attempt > claims || run.attempt < attemptMin)
    return `has the attempt ${run.attempt} after ${claims} claims`;
  return run.worker_id === null ? null : `has ended and still has the worker ${run.worker_id}`;
}

/** Checks that every run with an output has one asset, which the app writes with every output. */
export async function checkAssets(query: RunQuery): Promise<string[]> {
  const rows = await query(
    `select runs.id as id, count(assets.id) as count from runs left join assets on assets.run_id = runs.id
     group by runs.id, runs.output_content_id
     having count(assets.id) <> case when runs.output_content_id is null then 0 else 1 end`,
  );
  return rows.map((row) => `${row.id} has ${row.count} assets`);
}

/** Lists the keys of the blobs in a data folder. */
export function listBlobsOnDisk(data: string): string[] {
  const folder = join(data, 'blobs');
  return readdirSync(folder).flatMap((part) => (part.length > 2 ? [] : readdirSync(join(folder, part))));
}

/** Finds contents without a reference, references without a content, and contents without a blob. `blobs` are the existing keys. */
export async function checkContents(
  query: RunQuery,
  blobs: Iterable<string>,
): Promise<{ violations: string[]; unreferenced: string[]; blobs: number }> {
  const references = ['input_content_id', 'output_content_id', 'stdout_content_id', 'log_content_id']
    .map((column) => `select ${column} as id from runs where ${column} is not null`)
    .concat(
      'select content_id as id from executables',
      'select content_id as id from assets',
      'select content_id as id from inputs',
      'select content_id as id from input_set_inputs',
      'select content_id as id from experiment_inputs',
      'select content_id as id from uploads where content_id is not null',
      'select content_id as id from upload_parts',
    )
    .join(' union all ');
  const orphans = await query(`select id from contents where id not in (${references})`);
  const dangling = await query(
    `select id from (${references}) as referenced where id not in (select id from contents)`,
  );
  const referencedBlobs = new Set(
    (await query('select blob_key from contents where blob_key is not null')).map((row) =>
      String(row.blob_key),
    ),
  );
  const present = new Set(blobs);
  const lines = await query(
    'select distinct run_id from log_chunks where run_id not in (select id from runs)',
  );
  return {
    violations: [
      ...orphans.map((row) => `the content ${row.id} has no reference`),
      ...dangling.map((row) => `the content ${row.id} is referenced and missing`),
      ...[...referencedBlobs]
        .filter((key) => !present.has(key))
        .map((key) => `the blob ${key} is referenced and missing`),
      ...lines.map((row) => `the run ${row.run_id} is missing, but its log lines exist`),
    ],
    // Blobs whose row is not committed yet, and orphans that the clean-up job removes after an hour.
    unreferenced: [...present].filter((key) => !referencedBlobs.has(key)),
    blobs: present.size,
  };
}
