/** What must be true after the torture, looked up in the database and the blobs of the stopped server. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { canTransition, isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import pg from 'pg';
import { type AcknowledgedRun, expectedOutput } from './run-load.ts';

export type RunQuery = (sql: string) => Promise<Record<string, unknown>[]>;

/** Reads the database of a data folder, or of an address. */
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
  // The database may be killed while nothing is asked of it; whoever asks next is told. An error that nobody listens to
  // ends the process.
  client.on('error', () => {});
  await client.connect();
  return { query: async (sql) => (await client.query(sql)).rows, close: () => client.end() };
}

/** A run as the API answered it in the end. */
export interface ObservedRun {
  status_v2: RunStatusV2;
  error: string;
  output?: unknown;
}

export interface CheckResult {
  /** Acknowledged runs that are not there or have not ended. */
  lost: number;
  violations: string[];
  counts: Record<string, number>;
}

/** What was done to single runs. */
export interface KnownFaults {
  /** Runs whose app was killed. */
  killedRuns: ReadonlySet<string>;
  /** Whether the disk was full while the run may have been executed, which fails apps that write to it. */
  overlapsFullDisk(run: AcknowledgedRun): boolean;
}

/** Compares what was acknowledged with what the server says of it. */
export function checkRunOutcomes(
  acknowledged: readonly AcknowledgedRun[],
  seen: ReadonlyMap<string, ObservedRun>,
  { killedRuns: hit, overlapsFullDisk: metFullDisk }: KnownFaults,
): CheckResult {
  const findings: CheckResult = { lost: 0, violations: [], counts: {} };
  const count = (what: string): void => {
    findings.counts[what] = (findings.counts[what] ?? 0) + 1;
  };
  for (const run of acknowledged) {
    const found = seen.get(run.id);
    if (!found || !isTerminal(found.status_v2)) {
      findings.lost += 1;
      findings.violations.push(`${run.id} was acknowledged and is ${found?.status_v2 ?? 'not there'}`);
      continue;
    }
    count(found.status_v2);
    const wrong = wrongEnd(run, found, hit.has(run.id) || run.isEnsemble);
    if (wrong && found.status_v2 === 'failed' && metFullDisk(run)) count('failed because the disk was full');
    else if (wrong) findings.violations.push(`${run.id}: ${wrong}`);
    if (found.error.includes('was started 5 times')) count('failed after five attempts');
    if (found.status_v2 === 'failed' && hit.has(run.id)) count('failed because the app was killed');
  }
  return findings;
}

function wrongEnd(run: AcknowledgedRun, found: ObservedRun, wasHit: boolean): string | null {
  if (found.status_v2 === 'succeeded') {
    if (run.input.exit > 0) return 'succeeded though its app was to fail';
    const expected = JSON.stringify(expectedOutput(run.input));
    return JSON.stringify(found.output) === expected
      ? null
      : 'succeeded with another output than its input gives';
  }
  if (found.status_v2 === 'canceled')
    return run.isCancelRequested ? null : 'canceled though nobody asked for it';
  const meant = run.input.exit > 0 && found.error.includes(`exit code ${run.input.exit}`);
  const fiveTimes = found.error.includes('was started 5 times');
  return meant || fiveTimes || (wasHit && found.error.includes('SIGKILL')) ? null : `failed: ${found.error}`;
}

interface RunRow {
  id: string;
  status: RunStatusV2;
  attempt: number;
  fence: number;
  worker_id: string | null;
  run_type: string;
}

/** Every run, acknowledged or not: its events tell one story, and its counters agree with it. */
export async function checkRunEvents(query: RunQuery): Promise<string[]> {
  const runs = (await query(
    'select id, status, attempt, fence, worker_id, run_type from runs',
  )) as unknown as RunRow[];
  const stories = new Map<string, RunStatusV2[]>();
  for (const row of await query('select run_id, status from run_events order by seq')) {
    const story = stories.get(String(row.run_id)) ?? [];
    stories.set(String(row.run_id), story);
    story.push(row.status as RunStatusV2);
  }
  return runs.flatMap((run) => {
    const wrong = wrongStory(run, stories.get(run.id) ?? []);
    return wrong ? [`${run.id}: ${wrong}`] : [];
  });
}

function wrongStory(run: RunRow, story: readonly RunStatusV2[]): string | null {
  const told = story.join(' → ');
  // The run of an ensemble goes on from the start, and no worker claims it.
  const first = run.run_type === 'ensemble' ? 'running' : 'queued';
  if (story[0] !== first) return `its first event is not ${first}: ${told}`;
  for (const [index, status] of story.slice(1).entries()) {
    const before = story[index] ?? 'none';
    if (!canTransition(before, status)) return `went from ${before} to ${status}: ${told}`;
  }
  if (story.at(-1) !== run.status) return `is ${run.status}, its events say ${told}`;
  if (story.filter(isTerminal).length !== 1) return `has not exactly one terminal event: ${told}`;
  const claims = run.run_type === 'ensemble' ? 0 : story.filter((status) => status === 'running').length;
  if (run.fence !== claims) return `has fence ${run.fence} after ${claims} claims`;
  // A start that a stop of the server cut short does not count; who was canceled while it waited again may have no other.
  const least = story.at(-2) === 'running' && run.run_type !== 'ensemble' ? 1 : 0;
  if (run.attempt > claims || run.attempt < least)
    return `shows attempt ${run.attempt} after ${claims} claims`;
  return run.worker_id === null ? null : `has ended and belongs to worker ${run.worker_id}`;
}

/** The app leaves one asset with every output: whoever kept an output kept that too, once. */
export async function checkAssets(query: RunQuery): Promise<string[]> {
  const rows = await query(
    `select runs.id as id, count(assets.id) as count from runs left join assets on assets.run_id = runs.id
     group by runs.id, runs.output_content_id
     having count(assets.id) <> case when runs.output_content_id is null then 0 else 1 end`,
  );
  return rows.map((row) => `${row.id} has ${row.count} assets`);
}

/** Keys of the blobs in a data folder. */
export function listBlobsOnDisk(data: string): string[] {
  const folder = join(data, 'blobs');
  return readdirSync(folder).flatMap((part) => (part.length > 2 ? [] : readdirSync(join(folder, part))));
}

/** `blobs` are the keys of those that are there. Contents nobody names, names without content, and blobs in both directions. */
export async function checkContents(
  query: RunQuery,
  blobs: Iterable<string>,
): Promise<{ violations: string[]; unnamed: string[]; blobs: number }> {
  const names = ['input_content_id', 'output_content_id', 'stdout_content_id', 'log_content_id']
    .map((column) => `select ${column} as id from runs where ${column} is not null`)
    .concat(
      'select content_id as id from executables',
      'select content_id as id from assets',
      'select content_id as id from inputs',
      'select content_id as id from input_set_inputs',
      'select content_id as id from experiment_inputs',
      'select content_id as id from uploads where content_id is not null',
    )
    .join(' union all ');
  const orphans = await query(`select id from contents where id not in (${names})`);
  const dangling = await query(
    `select id from (${names}) as named where id not in (select id from contents)`,
  );
  const named = new Set(
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
      ...orphans.map((row) => `the content ${row.id} belongs to nothing`),
      ...dangling.map((row) => `the content ${row.id} is named and not there`),
      ...[...named].filter((key) => !present.has(key)).map((key) => `the blob ${key} is named and not there`),
      ...lines.map((row) => `log lines of ${row.run_id}, which is not there`),
    ],
    // On their way to a row, or left to be swept an hour later.
    unnamed: [...present].filter((key) => !named.has(key)),
    blobs: present.size,
  };
}
