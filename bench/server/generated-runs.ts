/**
 * Generates the rows of the list benchmark: copies of resources created by HTTP, spread over time, applications and
 * accounts.
 */
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { sql } from 'kysely';
import type { Database } from '../../server/platform/database/database.ts';
import { encodeText } from '../../server/runs/values/encode-value.ts';
import { hashField } from '../../server/runs/values/run-values.ts';
import { multiplyRows, PADDED_ROW_NUMBER } from '../../server/testing/database/multiply-rows.ts';
import { BENCH_APPLICATION } from './harness.ts';

const DAYS = 300;
/** Rows of every table except runs and their contents. */
const OTHERS = 10_000;
const SMALL_OTHERS = 200;
const FOREIGN_APPLICATIONS = 9;

/** Position in time and number of the generated rows. */
export interface GeneratedRuns {
  runs: number;
  begin: number;
  /** Interval between two timestamps; two runs have each timestamp. */
  stepMs: number;
  /** Items of each list that the measured caller sees. */
  counts: Record<string, number>;
}

/** The runs of the measured application have odd numbers. */
export const formatRunId = (n: number): string => `run-bulk-${String(n).padStart(9, '0')}`;

/** Returns the creation time of a run. Two consecutive runs have the same time. */
export const runCreatedAt = ({ begin, stepMs }: GeneratedRuns, n: number): number =>
  begin + Math.floor(n / 2) * stepMs;

/** Fills the database with copies; `seed` is a run created by HTTP. */
export async function generateRuns(
  database: Database,
  seed: { run: string },
  runs: number,
): Promise<GeneratedRuns> {
  const isLarge = runs > 1000;
  const others = isLarge ? OTHERS : SMALL_OTHERS;
  const spanMs = DAYS * 24 * 60 * 60 * 1000;
  const stepMs = Math.floor(spanMs / (runs / 2));
  const begin = Date.now() - spanMs;
  const filled: GeneratedRuns = {
    runs,
    begin,
    stepMs,
    counts: {
      runs: runs / 2,
      applications: others,
      versions: others,
      instances: others,
      secrets: others,
      keys: others,
    },
  };
  const read = database.read;
  const application = await read
    .selectFrom('applications')
    .selectAll()
    .where('id', '=', BENCH_APPLICATION as ApplicationId)
    .executeTakeFirstOrThrow();
  const run = await read
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', seed.run as never)
    .executeTakeFirstOrThrow();
  const key = await read.selectFrom('keys').select('id').executeTakeFirstOrThrow();

  await addAccounts(database, begin);
  const rows: OtherRows = {
    count: others,
    begin,
    createdAt: `${begin} + n * ${Math.floor(spanMs / others)}`,
  };
  await addApplications(database, application.uid, rows);
  await addResources(database, key.id, rows);
  await addRuns(database, run, filled);
  await addRunValues(database, application.uid, filled);
  return filled;
}

/** Rows of the tables other than runs. `createdAt` is an SQL expression of the row number `n`. */
interface OtherRows {
  count: number;
  begin: number;
  createdAt: string;
}

async function addApplications(
  database: Database,
  templateUid: string,
  { count, begin, createdAt }: OtherRows,
): Promise<void> {
  const template = { column: 'uid', value: templateUid } as const;
  await multiplyRows(database, {
    table: 'applications',
    template,
    count,
    changes: {
      uid: `'uid-' || ${PADDED_ROW_NUMBER}`,
      id: `'app-' || ${PADDED_ROW_NUMBER}`,
      created_at: createdAt,
    },
  });
  await multiplyRows(database, {
    table: 'applications',
    template,
    count: FOREIGN_APPLICATIONS,
    changes: {
      uid: `'foreign-' || n`,
      id: `'foreign-' || n`,
      account_id: `'account-bulk-' || (n % 2)`,
      created_at: createdAt,
    },
  });
  await multiplyRows(database, {
    table: 'applications',
    template,
    count: 1,
    changes: { uid: `'lonely'`, id: `'lonely'`, created_at: String(begin) },
  });
}

async function addResources(
  database: Database,
  templateKey: string,
  { count, createdAt }: OtherRows,
): Promise<void> {
  for (const [table, name] of [
    ['versions', 'v'],
    ['instances', 'i'],
    ['secrets_collections', 's'],
  ] as const) {
    await multiplyRows(database, {
      table,
      template: { column: 'id', value: 'seed' },
      count,
      changes: { id: `'${name}-' || ${PADDED_ROW_NUMBER}`, created_at: createdAt },
    });
  }
  await multiplyRows(database, {
    table: 'keys',
    template: { column: 'id', value: templateKey },
    count,
    changes: { id: `'key-' || ${PADDED_ROW_NUMBER}`, created_at: createdAt },
  });
}

/** The columns of the template run that its copies refer to. */
interface TemplateRun {
  id: string;
  input_content_id: string;
}

async function addRuns(
  database: Database,
  run: TemplateRun,
  { runs, begin, stepMs }: GeneratedRuns,
): Promise<void> {
  for (const part of ['in', 'out']) {
    await multiplyRows(database, {
      table: 'contents',
      template: { column: 'id', value: run.input_content_id },
      count: runs,
      changes: { id: `'c-${part}-' || ${PADDED_ROW_NUMBER}` },
    });
  }
  const indicators = JSON.stringify(
    Array.from({ length: 12 }, (_, n) => ({ name: `result.custom.value_${n}`, value: 1040.6 + n })),
  );
  const ours = (column: string, foreign: string): string =>
    `case when n % 2 = 1 then t.${column} else ${foreign} end`;
  const foreign = `(n / 2) % ${FOREIGN_APPLICATIONS} + 1`;
  const ended = {
    status: `'succeeded'`,
    attempt: '1',
    fence: '1',
    statistics_status: `'success'`,
    indicators: `'${indicators}'`,
    created_at: `${begin} + (n / 2) * ${stepMs}`,
    initiated_at: `${begin} + (n / 2) * ${stepMs}`,
    finished_at: `${begin} + (n / 2) * ${stepMs}`,
    execution_ms: '5',
    output_bytes: 't.input_bytes',
  };
  const template = { column: 'id', value: run.id } as const;
  await multiplyRows(database, {
    table: 'runs',
    template,
    count: runs,
    changes: {
      ...ended,
      id: `'run-bulk-' || ${PADDED_ROW_NUMBER}`,
      application_uid: ours('application_uid', `'foreign-' || (${foreign})`),
      application_id: ours('application_id', `'foreign-' || (${foreign})`),
      account_id: ours('account_id', `'account-bulk-' || ((${foreign}) % 2)`),
      input_content_id: `'c-in-' || ${PADDED_ROW_NUMBER}`,
      output_content_id: `'c-out-' || ${PADDED_ROW_NUMBER}`,
    },
  });
  await multiplyRows(database, {
    table: 'runs',
    template,
    count: 1,
    changes: { ...ended, id: `'run-lonely'`, application_uid: `'lonely'`, application_id: `'lonely'` },
  });
}

/** Distinct numbers of the generated indicator; the smallest is 2^52, from where the code of a double is the number itself. */
const INDICATOR_VALUES = 100_003;
export const SMALLEST_INDICATOR = 2 ** 52;
const SPREAD_PRIME = 7919;

/** Adds the values of the measured application's runs, as their ends would store them. */
async function addRunValues(
  database: Database,
  applicationUid: string,
  { runs, begin, stepMs }: GeneratedRuns,
): Promise<void> {
  const number = `(n * ${SPREAD_PRIME}) % ${INDICATOR_VALUES}`;
  const hex = database.kind === 'sqlite' ? `printf('%012x', ${number})` : `lpad(to_hex(${number}), 12, '0')`;
  const text = (value: string): string => `'${encodeText(value)}'`;
  // Multiplied by a prime, so that each stretch of time has values from the whole range.
  const spread = (prefix: string, count: number): string =>
    `'${encodeText(prefix)}' || ((n * ${SPREAD_PRIME}) % ${count})`;
  const fields = {
    status: `case when n % 1000 = 0 then ${text('failed')} else ${text('succeeded')} end`,
    instance_id: spread('instance-', 7),
    version_id: spread('v', 50),
    user_email: spread('planner-', 200),
    run_type: text('standard'),
    name: spread('tour ', 1000),
    text: spread('tour', 1000),
    'indicator.result.value': `'nc330' || ${hex}`,
    'option.solver': spread('solver-', 3),
  };
  const template = 'run-template' as RunId;
  await database.transact((tx) =>
    tx.insertInto('run_values').values({ field: 0, created_at: 0, run_id: template, value: '' }).execute(),
  );
  for (const [field, value] of Object.entries(fields))
    await multiplyRows(database, {
      table: 'run_values',
      template: { column: 'run_id', value: template },
      count: Math.floor(runs / 2),
      changes: {
        field: String(hashField(applicationUid, field)),
        created_at: `${begin} + (n - 1) * ${stepMs}`,
        run_id: `'run-bulk-' || substr(cast(1000000000 + 2 * n - 1 as text), 2)`,
        value,
      },
    });
}

/**
 * Creates two more accounts. On PostgreSQL it analyses the nearly empty tables and disables the server's own vacuum, so
 * that the statistics are as stale as possible.
 */
async function addAccounts(database: Database, created_at: number): Promise<void> {
  await database.transact(async (tx) => {
    for (const n of [0, 1]) {
      const id = `account-bulk-${n}` as AccountId;
      await tx
        .insertInto('accounts')
        .values({ id, name: `Account ${n}`, created_at })
        .execute();
    }
  });
  if (database.kind === 'sqlite') return;
  for (const table of [
    'runs',
    'run_values',
    'contents',
    'applications',
    'versions',
    'instances',
    'secrets_collections',
    'keys',
  ])
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(database.read);
  await sql`analyze`.execute(database.read);
}
