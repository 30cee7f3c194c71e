/**
 * Verifies the stored data of an installation, running or stopped, and changes nothing: every row of every table is read,
 * every blob is read and compared with its hash, and references are followed in both directions. All rows are those of one
 * snapshot; what a running server has removed since then is no problem.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BlobMissingError, type BlobReader } from '../blobs/blob-store.ts';
import { openBlobReader } from '../blobs/open-blob-store.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Database, Reader } from '../database/database.ts';
import { acquireFolderLock, FolderInUseError } from '../database/folder-lock.ts';
import {
  listMigratedTables,
  listTables,
  openReadOnly,
  type Snapshot,
} from '../database/maintenance/snapshot-connection.ts';
import { openStoppedDatabase } from '../database/maintenance/stopped-database.ts';
import { countDroppedCommits } from '../database/maintenance/wal-damage.ts';
import { sqlitePath } from '../database/open.ts';
import { readInstallationState } from '../installation/installation-state.ts';
import { findStartRefusal } from '../installation/start-refusal.ts';
import { errorMessage } from '../log.ts';
import { migrations } from '../migrations.ts';
import { BackupError } from './backup-error.ts';

/** A younger blob may be on its way to a row. */
const ORPHAN_AGE_MS = 2 * 60 * 60 * 1000;
/** Columns with this end name a row of `contents`. */
const CONTENT_COLUMN = /(^|_)content_id$/;
/** Its archive is removed while the row stays. */
const WITHOUT_ARCHIVE = 'archive_removed_at';

type ProblemKind = 'installation' | 'database' | 'missing' | 'changed' | 'orphaned' | 'unreadable';

interface VerificationProblem {
  kind: ProblemKind;
  /** The row, the content or the blob. */
  subject: string;
  detail: string;
}

export interface VerificationResult {
  tables: number;
  rows: number;
  blobs: number;
  bytes: number;
  /** Blobs that wait in the trash to be purged. */
  trashedBlobs: number;
  problems: VerificationProblem[];
}

interface Opened extends Pick<Database, 'kind' | 'read'> {
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Throws BackupError when there is nothing to verify, and what keeps it from looking at all. */
export async function verifyInstallation(
  config: Config,
  { clock }: { clock: Clock },
): Promise<VerificationResult> {
  const { database, isRunning } = await openUnchanged(config);
  const verified: VerificationResult = {
    tables: 0,
    rows: 0,
    blobs: 0,
    bytes: 0,
    trashedBlobs: 0,
    problems: [],
  };
  try {
    const snapshot = await database.snapshot();
    try {
      if (!isRunning) await checkStart(config, verified);
      await checkDatabase(config, database, snapshot, verified);
      const references = await checkReferences(database, snapshot, verified);
      await checkBlobs(await openBlobReader(config), { database, snapshot, references, clock }, verified);
      return verified;
    } finally {
      await snapshot.close();
    }
  } finally {
    await database.close();
  }
}

/** A stopped SQLite server stays stopped meanwhile, by its lock. */
async function openUnchanged({ postgres, data }: Config): Promise<{ database: Opened; isRunning: boolean }> {
  if (postgres) return { database: await openReadOnly(postgres), isRunning: false };
  const path = sqlitePath(data);
  if (!existsSync(path))
    throw new BackupError(
      `There is no database at ${path}; set SWITCHYARD_DATA to the server's data folder.`,
    );
  const lock = existsSync(join(data, 'lock')) ? lockStopped(data) : { release: () => {} };
  if (!lock) return { database: await openReadOnly(path), isRunning: true };
  try {
    const opened = await openStoppedDatabase(path);
    if (!opened) throw new BackupError(`The database ${path} is empty.`);
    const close = async (): Promise<void> => {
      await opened.close();
      lock.release();
    };
    return { database: { ...opened, kind: 'sqlite', close }, isRunning: false };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** null while a server runs. */
function lockStopped(data: string): { release(): void } | null {
  try {
    return acquireFolderLock(data, 'in use');
  } catch (error) {
    if (error instanceof FolderInUseError) return null;
    throw error;
  }
}

async function checkStart(config: Config, { problems }: VerificationResult): Promise<void> {
  const sides = await readInstallationState(config);
  const refusal = findStartRefusal(sides);
  if (refusal !== null)
    problems.push({ kind: 'installation', subject: 'a start is refused', detail: refusal });
  const stopped = sides.database.identity?.clean_up_stopped;
  if (stopped) problems.push({ kind: 'installation', subject: 'clean-up is stopped', detail: stopped });
}

/** Reads every row, and lets SQLite check its pages and indexes. */
async function checkDatabase(
  config: Config,
  database: Opened,
  snapshot: Snapshot,
  verified: VerificationResult,
): Promise<void> {
  const { problems } = verified;
  const note = (what: string, detail: string): void =>
    void problems.push({ kind: 'database', subject: what, detail });
  if (database.kind === 'sqlite') {
    const dropped = countDroppedCommits(`${sqlitePath(config.data)}-wal`);
    if (dropped > 0)
      note('switchyard.db-wal', `${dropped} commits lie behind damage in the log and are lost`);
    for (const pragma of ['integrity_check', 'foreign_key_check']) {
      try {
        for await (const rows of snapshot.readRows(`pragma ${pragma}`))
          for (const row of rows) {
            const [first, ...rest] = Object.values(row).map(String);
            if (first !== 'ok') note(pragma, [first, ...rest].join(' '));
          }
      } catch (error) {
        note(pragma, errorMessage(error));
      }
    }
  }
  for (const { name } of await knownTables(database)) {
    verified.tables += 1;
    try {
      for await (const rows of snapshot.readRows(`select * from "${name}"`)) verified.rows += rows.length;
    } catch (error) {
      // On PostgreSQL the snapshot is over after an error.
      if (database.kind === 'postgres') throw error;
      note(`table ${name}`, errorMessage(error));
    }
  }
}

async function knownTables(database: Pick<Database, 'kind' | 'read'>) {
  const known = new Set((await listMigratedTables(migrations)).map(({ name }) => name));
  return (await listTables(database)).filter(({ name }) => known.has(name));
}

interface Reference {
  table: string;
  column: string;
  /** The query of the ids of contents that rows name. */
  named: string;
}

/** Rows that name content that is not there, and content that no row names. */
async function checkReferences(
  database: Opened,
  snapshot: Snapshot,
  { problems }: VerificationResult,
): Promise<Reference[]> {
  const references = (await knownTables(database)).flatMap(({ name: table, columns }) =>
    columns
      .filter(({ name }) => CONTENT_COLUMN.test(name))
      .map(({ name: column }) => {
        const kept = columns.some(({ name }) => name === WITHOUT_ARCHIVE)
          ? ` and ${WITHOUT_ARCHIVE} is null`
          : '';
        return {
          table,
          column,
          named: `select ${column} as id from "${table}" where ${column} is not null${kept}`,
        };
      }),
  );
  for (const { table, column, named } of references)
    for await (const rows of snapshot.readRows(
      `select named.id as id from (${named}) as named where not exists (select 1 from contents where contents.id = named.id)`,
    ))
      for (const { id } of rows)
        problems.push({ kind: 'missing', subject: `content ${id}`, detail: `${table}.${column} names it` });
  const all = references.map(({ named }) => named).join(' union all ');
  for await (const rows of snapshot.readRows(`select id, blob_key from contents where id not in (${all})`))
    for (const { id } of rows)
      problems.push({ kind: 'orphaned', subject: `content ${id}`, detail: 'no row names it' });
  for await (const rows of snapshot.readRows(
    'select id, bytes, length(inline) as length from contents where blob_key is null and (inline is null or length(inline) <> bytes)',
  ))
    for (const { id, bytes, length } of rows)
      problems.push({
        kind: 'changed',
        subject: `content ${id}`,
        detail: `it has ${length ?? 'no'} bytes in the database; ${bytes} were stored`,
      });
  return references;
}

interface BlobParts {
  database: Opened;
  snapshot: Snapshot;
  references: readonly Reference[];
  clock: Clock;
}

async function checkBlobs(blobs: BlobReader, parts: BlobParts, verified: VerificationResult): Promise<void> {
  const { database, snapshot, references, clock } = parts;
  const { problems } = verified;
  const named = new Set<string>();
  const wrong: VerificationProblem[] = [];
  const select =
    'select blob_key, max(sha256) as sha256, max(bytes) as bytes, min(sha256) as other, min(bytes) as fewer from contents where blob_key is not null group by blob_key';
  for await (const rows of snapshot.readRows(select))
    for (const row of rows) {
      const key = String(row.blob_key);
      named.add(key);
      verified.blobs += 1;
      if (row.sha256 !== row.other || Number(row.bytes) !== Number(row.fewer))
        wrong.push({
          kind: 'changed',
          subject: key,
          detail: 'rows that share it differ in its hash or length',
        });
      const found = await hashOf(blobs, key);
      if ('kind' in found) wrong.push({ ...found, subject: key });
      else if (found.bytes !== Number(row.bytes))
        wrong.push({
          kind: 'changed',
          subject: key,
          detail: `it has ${found.bytes} bytes; ${row.bytes} were stored`,
        });
      else if (row.sha256 !== null && found.sha256 !== row.sha256)
        wrong.push({
          kind: 'changed',
          subject: key,
          detail: `its SHA-256 is ${found.sha256}; ${row.sha256} was stored`,
        });
      else verified.bytes += found.bytes;
    }
  for (const problem of wrong) {
    if (!(await isNamed(database.read, problem.subject))) continue;
    const users = await usersOf(snapshot, references, problem.subject);
    problems.push({ ...problem, subject: `blob ${problem.subject}`, detail: `${problem.detail}; ${users}` });
  }
  for await (const key of blobs.list(clock.now() - ORPHAN_AGE_MS))
    if (!named.has(key) && !(await isNamed(database.read, key)) && (await blobs.stat(key)))
      problems.push({ kind: 'orphaned', subject: `blob ${key}`, detail: 'no row names it' });
  for await (const _ of blobs.listTrash(Number.POSITIVE_INFINITY)) verified.trashedBlobs += 1;
}

async function hashOf(
  blobs: BlobReader,
  key: string,
): Promise<{ bytes: number; sha256: string } | { kind: 'missing' | 'unreadable'; detail: string }> {
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of (await blobs.open(key)) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { bytes, sha256: hash.digest('hex') };
  } catch (error) {
    if (error instanceof BlobMissingError) return { kind: 'missing', detail: 'it is not in the blob store' };
    return { kind: 'unreadable', detail: errorMessage(error) };
  }
}

/** Whether a row names the blob by now. */
async function isNamed(read: Reader, key: string): Promise<boolean> {
  const row = read.selectFrom('contents').select('id').where('blob_key', '=', key);
  return (await row.executeTakeFirst()) !== undefined;
}

/** Which rows lose by the blob. A key has no character that needs quoting. */
async function usersOf(snapshot: Snapshot, references: readonly Reference[], key: string): Promise<string> {
  const users: string[] = [];
  for (const { table, column } of references)
    for await (const rows of snapshot.readRows(
      `select * from "${table}" where ${column} in (select id from contents where blob_key = '${key.replaceAll("'", "''")}')`,
    ))
      for (const row of rows) users.push(`${table} ${row.id ?? row.uid ?? row.run_id ?? ''}`.trim());
  return users.length === 0
    ? 'no row uses it'
    : `used by ${users.slice(0, 5).join(', ')}${users.length > 5 ? ` and ${users.length - 5} more` : ''}`;
}
