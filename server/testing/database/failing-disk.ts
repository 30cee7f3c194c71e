/**
 * The child process of failed-commits.test.ts, whose disk fails as the parent says. For each fault it commits rows to a new
 * database, and copies the folder as a killed process would leave it. Prints one line of JSON for each fault.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { findWalDamage, type WalDamage } from '../../platform/database/maintenance/wal-damage.ts';
import { openSqlite } from '../../platform/database/sqlite/sqlite.ts';
import { isDatabaseFull } from '../../platform/database/transient-errors.ts';
import { type DiskFault, openDiskFaults } from '../host/disk-faults.ts';

/** The observed end of one fault. */
export interface FaultReport {
  /** The end of the commit under the fault; `full` if its error says that the disk is full. */
  commit: 'acknowledged' | 'full' | 'failed';
  /** For the killed process and for the one that closed the database. */
  ends: { damage: WalDamage | null; missingRows: number[] }[];
}

/** A commit of this size writes several frames, and grows the index of the WAL. */
const LARGE_BYTES = { '-wal': 30_000, '-shm': 20_000_000 };
const setFault = openDiskFaults(process.env);

async function observe(fault: DiskFault): Promise<FaultReport> {
  const folder = mkdtempSync(join(tmpdir(), 'failing-disk-'));
  const killed = `${folder}-killed`;
  try {
    const database = openSqlite(join(folder, 'test.db'));
    await database.transact((tx) => sql`create table rows (id integer, body blob)`.execute(tx));
    const acknowledged: number[] = [];
    const insert = async (id: number, bytes: number): Promise<FaultReport['commit']> => {
      const statement = sql`insert into rows values (${id}, zeroblob(${bytes}))`;
      try {
        await database.transact((tx) => statement.execute(tx));
        acknowledged.push(id);
        return 'acknowledged';
      } catch (error) {
        return isDatabaseFull(error) ? 'full' : 'failed';
      }
    };
    await insert(1, 10);
    setFault(fault);
    const commit = await insert(2, LARGE_BYTES[fault.file === '-shm' ? '-shm' : '-wal']);
    setFault(null);
    // Shorter than the failed one, so that frames of that one may stay behind it.
    await insert(3, 10);
    cpSync(folder, killed, { recursive: true });
    await database.close();
    const ends = [killed, folder].map((one) => inspect(join(one, 'test.db'), acknowledged));
    return { commit, ends: await Promise.all(ends) };
  } finally {
    for (const one of [folder, killed]) rmSync(one, { recursive: true, force: true });
  }
}

async function inspect(path: string, acknowledged: number[]): Promise<FaultReport['ends'][number]> {
  const damage = findWalDamage(path);
  const database = openSqlite(path);
  const { rows } = await sql<{ id: number }>`select id from rows`.execute(database.read);
  await database.close();
  const found = new Set(rows.map(({ id }) => id));
  return { damage, missingRows: acknowledged.filter((id) => !found.has(id)) };
}

const faults: DiskFault[] = JSON.parse(process.argv[2] ?? '[]');
for (const fault of faults) console.log(JSON.stringify(await observe(fault)));
