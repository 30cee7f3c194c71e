/**
 * Verifies the stored data of a running or stopped installation without a change. It reads every row of every table, compares
 * every blob with its hash, and follows references in both directions. All rows belong to one snapshot: it reports no
 * problem for content that a running server has removed since.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { acquireFolderLock, FolderInUseError } from '@switchyard/worker/folder-lock.ts';
import { BlobMissingError, type BlobReader } from '../../platform/blobs/blob-store.ts';
import { iterateBuffers } from '../../platform/blobs/hashed-file.ts';
import { openBlobReader } from '../../platform/blobs/open-blob-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { StorageConfig } from '../../platform/config.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import {
  listMigratedTables,
  listTables,
  openReadOnly,
  type Snapshot,
} from '../../platform/database/maintenance/snapshot-connection.ts';
import { openStoppedDatabase } from '../../platform/database/maintenance/stopped-database.ts';
import { describeWalDamage, findWalDamage } from '../../platform/database/maintenance/wal-damage.ts';
import { sqlitePath } from '../../platform/database/open.ts';
import { errorMessage } from '../../platform/log.ts';
import { readInstallationState } from '../installation/installation-state.ts';
import { findStartRefusal } from '../installation/start-refusal.ts';
import { migrations } from '../migrations.ts';
import { BackupError } from './backup-error.ts';

/** A younger blob without a row may still get one. */
const ORPHAN_AGE_MS = 2 * 60 * 60 * 1000;
/** Columns with this suffix name a row of `contents`. */
const CONTENT_COLUMN = /(^|_)content_id$/;
/** A row with this column set has lost its archive and may name missing content. */
const WITHOUT_ARCHIVE = 'archive_removed_at';

type ProblemKind = 'installation' | 'database' | 'missing' | 'changed' | 'orphaned' | 'unreadable';

interface VerificationProblem {
  kind: ProblemKind;
  /** The row, the content or the blob. */
  subject: string;
  detail: string;
}

/** Counts of what was read, and the problems. */
export interface VerificationResult {
  tables: number;
  rows: number;
  blobs: number;
  bytes: number;
  trashedBlobs: number;
  problems: VerificationProblem[];
}

interface OpenDatabase extends Pick<Database, 'kind' | 'read'> {
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Verifies the installation. Throws BackupError when there is no database, and any error that prevents reading. */
export async function verifyInstallation(
  config: StorageConfig,
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

/** Opens the database for reading alone. Locks the data folder of a stopped server, so that none starts meanwhile. */
async function openUnchanged({
  postgres,
  data,
}: StorageConfig): Promise<{ database: OpenDatabase; isRunning: boolean }> {
  if (postgres) return { database: await openReadOnly(postgres), isRunning: false };
  const path = sqlitePath(data);
  if (!existsSync(path))
    throw new BackupError(
      `There is no database at ${path}. Set SWITCHYARD_DATA to the data folder of the server.`,
    );
  const lock = existsSync(join(data, 'lock')) ? tryLockFolder(data) : { release: () => {} };
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

/** Returns null while a server runs. */
function tryLockFolder(data: string): { release(): void } | null {
  try {
    return acquireFolderLock(data, 'in use');
  } catch (error) {
    if (error instanceof FolderInUseError) return null;
    throw error;
  }
}

async function checkStart(config: StorageConfig, { problems }: VerificationResult): Promise<void> {
  const sides = await readInstallationState(config);
  const refusal = findStartRefusal(sides);
  if (refusal !== null)
    problems.push({ kind: 'installation', subject: 'a start is refused', detail: refusal });
  const stopped = sides.database.identity?.clean_up_stopped;
  if (stopped) problems.push({ kind: 'installation', subject: 'clean-up is stopped', detail: stopped });
}

/** Reads every row, and runs the checks of SQLite on pages and indexes. */
async function checkDatabase(
  config: StorageConfig,
  database: OpenDatabase,
  snapshot: Snapshot,
  verified: VerificationResult,
): Promise<void> {
  const { problems } = verified;
  const addProblem = (subject: string, detail: string): void =>
    void problems.push({ kind: 'database', subject: subject, detail });
  if (database.kind === 'sqlite') {
    const damage = findWalDamage(sqlitePath(config.data));
    if (damage !== null) addProblem('switchyard.db-wal', describeWalDamage(damage));
    for (const pragma of ['integrity_check', 'foreign_key_check']) {
      try {
        for await (const rows of snapshot.readRows(`pragma ${pragma}`))
          for (const row of rows) {
            const [first, ...rest] = Object.values(row).map(String);
            if (first !== 'ok') addProblem(pragma, [first, ...rest].join(' '));
          }
      } catch (error) {
        addProblem(pragma, errorMessage(error));
      }
    }
  }
  for (const { name } of await listKnownTables(database)) {
    verified.tables += 1;
    try {
      for await (const rows of snapshot.readRows(`select * from "${name}"`)) verified.rows += rows.length;
    } catch (error) {
      // PostgreSQL ends the snapshot after an error.
      if (database.kind === 'postgres') throw error;
      addProblem(`table ${name}`, errorMessage(error));
    }
  }
}

async function listKnownTables(database: Pick<Database, 'kind' | 'read'>) {
  const known = new Set((await listMigratedTables(migrations)).map(({ name }) => name));
  return (await listTables(database)).filter(({ name }) => known.has(name));
}

interface Reference {
  table: string;
  column: string;
  idQuery: string;
}

/** Finds rows that name missing content, content without a row, and content of a wrong length. Returns all references. */
async function checkReferences(
  database: OpenDatabase,
  snapshot: Snapshot,
  { problems }: VerificationResult,
): Promise<Reference[]> {
  const references = (await listKnownTables(database)).flatMap(({ name: table, columns }) =>
    columns
      .filter(({ name }) => CONTENT_COLUMN.test(name))
      .map(({ name: column }) => {
        const condition = columns.some(({ name }) => name === WITHOUT_ARCHIVE)
          ? ` and ${WITHOUT_ARCHIVE} is null`
          : '';
        return {
          table,
          column,
          idQuery: `select ${column} as id from "${table}" where ${column} is not null${condition}`,
        };
      }),
  );
  for (const { table, column, idQuery } of references)
    for await (const rows of snapshot.readRows(
      `select named.id as id from (${idQuery}) as named where not exists (select 1 from contents where contents.id = named.id)`,
    ))
      for (const { id } of rows)
        problems.push({ kind: 'missing', subject: `content ${id}`, detail: `${table}.${column} names it` });
  const all = references.map(({ idQuery }) => idQuery).join(' union all ');
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
  database: OpenDatabase;
  snapshot: Snapshot;
  references: readonly Reference[];
  clock: Clock;
}

async function checkBlobs(blobs: BlobReader, parts: BlobParts, verified: VerificationResult): Promise<void> {
  const { database, snapshot, references, clock } = parts;
  const { problems } = verified;
  const named = new Set<string>();
  const blobProblems: VerificationProblem[] = [];
  const select =
    'select blob_key, max(sha256) as sha256, max(bytes) as bytes, min(sha256) as other, min(bytes) as fewer from contents where blob_key is not null group by blob_key';
  for await (const rows of snapshot.readRows(select))
    for (const row of rows) {
      const key = String(row.blob_key);
      named.add(key);
      verified.blobs += 1;
      if (row.sha256 !== row.other || Number(row.bytes) !== Number(row.fewer))
        blobProblems.push({
          kind: 'changed',
          subject: key,
          detail: 'rows that share it differ in its hash or length',
        });
      const found = await hashBlob(blobs, key);
      if ('kind' in found) blobProblems.push({ ...found, subject: key });
      else if (found.bytes !== Number(row.bytes))
        blobProblems.push({
          kind: 'changed',
          subject: key,
          detail: `it has ${found.bytes} bytes; ${row.bytes} were stored`,
        });
      else if (row.sha256 !== null && found.sha256 !== row.sha256)
        blobProblems.push({
          kind: 'changed',
          subject: key,
          detail: `its SHA-256 is ${found.sha256}; ${row.sha256} was stored`,
        });
      else verified.bytes += found.bytes;
    }
  for (const problem of blobProblems) {
    if (!(await isNamed(database.read, problem.subject))) continue;
    const users = await describeUsers(snapshot, references, problem.subject);
    problems.push({ ...problem, subject: `blob ${problem.subject}`, detail: `${problem.detail}; ${users}` });
  }
  for await (const key of blobs.list(clock.now() - ORPHAN_AGE_MS))
    if (!named.has(key) && !(await isNamed(database.read, key)) && (await blobs.stat(key)))
      problems.push({ kind: 'orphaned', subject: `blob ${key}`, detail: 'no row names it' });
  for await (const _ of blobs.listTrash(Number.POSITIVE_INFINITY)) verified.trashedBlobs += 1;
}

async function hashBlob(
  blobs: BlobReader,
  key: string,
): Promise<{ bytes: number; sha256: string } | { kind: 'missing' | 'unreadable'; detail: string }> {
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of iterateBuffers(await blobs.open(key))) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { bytes, sha256: hash.digest('hex') };
  } catch (error) {
    if (error instanceof BlobMissingError) return { kind: 'missing', detail: 'it is not in the blob store' };
    return { kind: 'unreadable', detail: errorMessage(error) };
  }
}

/** Reports whether a row names the blob now, after the snapshot. */
async function isNamed(read: Reader, key: string): Promise<boolean> {
  const row = read.selectFrom('contents').select('id').where('blob_key', '=', key);
  return (await row.executeTakeFirst()) !== undefined;
}

/** Returns the rows that use the blob, for a message. */
async function describeUsers(
  snapshot: Snapshot,
  references: readonly Reference[],
  key: string,
): Promise<string> {
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
