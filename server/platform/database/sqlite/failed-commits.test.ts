/** Commits that fail on a full or failing disk, damaged logs, and what the next start says about both. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FaultReport } from '../../../testing/database/failing-disk.ts';
import { buildDiskFaults, type DiskFault } from '../../../testing/host/disk-faults.ts';
import { findWalDamage } from '../maintenance/wal-damage.ts';
import { openSqlite } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-disk-faults-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const disk = buildDiskFaults(folder);

/** The commit under the fault writes a header and a page for each of 8 frames or more; its index grows once. */
const FAULTS: DiskFault[] = (['ENOSPC', 'EIO'] as const).flatMap((error) => [
  ...[1, 2, 3, 8, 15, 16].map(
    (first) => ({ operation: 'write', file: '-wal', error, first, count: 1 }) as const,
  ),
  { operation: 'write', file: '-shm', error, first: 1, count: 1 },
  { operation: 'sync', file: '-wal', error, first: 1, count: 1 },
]);

test('W13: a failed commit is never reported as lost, whichever call of it failed', (context) => {
  if ('problem' in disk) return context.skip(`SKIPPING failing disks: ${disk.problem}`);
  const child = join(import.meta.dirname, '../../../testing/database/failing-disk.ts');
  const { stdout, stderr, status } = spawnSync(process.execPath, [child, JSON.stringify(FAULTS)], {
    encoding: 'utf8',
    env: { ...process.env, ...disk.env },
  });
  expect([status, stderr]).toEqual([0, '']);
  const lines = stdout.trim().split('\n');
  const whole = { damage: null, missingRows: [] };
  expect(lines.map((line): FaultReport => JSON.parse(line))).toEqual(
    FAULTS.map(({ operation, file, error }) => ({
      // SQLite reports an index that cannot grow by one code, whatever the disk said.
      commit: operation !== 'sync' && (error === 'ENOSPC' || file === '-shm') ? 'full' : 'failed',
      ends: [whole, whole],
    })),
  );
});

describe('a killed server with four acknowledged commits of one frame each', () => {
  const killed = join(folder, 'killed');
  const FRAME_BYTES = 24 + 4096;
  let before = 0;
  beforeAll(async () => {
    const running = mkdtempSync(join(folder, 'running-'));
    const path = join(running, 'test.db');
    const database = openSqlite(path);
    await database.transact((tx) => sql`create table rows (id integer)`.execute(tx));
    before = readUsedBytes(`${path}-wal`);
    for (let id = 1; id <= 4; id += 1)
      await database.transact((tx) => sql`insert into rows values (${id})`.execute(tx));
    cpSync(running, killed, { recursive: true, preserveTimestamps: true });
    await database.close();
    expect(existsSync(`${path}-acknowledged`)).toBe(false);
  });

  const flip = (wal: string, at: number): void => {
    const bytes = readFileSync(wal);
    bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    writeFileSync(wal, bytes);
  };

  test.each<[string, (wal: string, database: string) => void, object | null]>([
    ['is whole', () => {}, null],
    [
      'and a changed byte in the second lost three',
      (wal) => flip(wal, before + FRAME_BYTES + 100),
      { droppedCommits: 3, wereAcknowledged: true },
    ],
    [
      'and a cut log lost the last',
      (wal) => truncateSync(wal, before + 3 * FRAME_BYTES),
      { droppedCommits: 0, wereAcknowledged: true },
    ],
    ...([0, 10, 31, null] as const).map((bytes): [string, (wal: string) => void, object] => [
      `and ${bytes === null ? 'no log' : `a log of ${bytes} bytes`} lost all`,
      (wal) => (bytes === null ? rmSync(wal) : truncateSync(wal, bytes)),
      { droppedCommits: 0, wereAcknowledged: true },
    ]),
    [
      'whose log another program has moved into the database lost none',
      (_, database) => new DatabaseSync(database).exec('pragma wal_checkpoint(truncate)'),
      null,
    ],
    [
      'and a changed header lost all, the table too',
      (wal) => flip(wal, 16),
      { droppedCommits: expect.any(Number), wereAcknowledged: true },
    ],
    [
      'and a changed byte, without the acknowledged position, lost three or none',
      (wal, database) => {
        flip(wal, before + FRAME_BYTES + 100);
        rmSync(`${database}-acknowledged`);
      },
      { droppedCommits: 3, wereAcknowledged: 'unknown' },
    ],
    [
      'and a changed byte behind the last commit lost none',
      (wal) => flip(wal, before + 4 * FRAME_BYTES + 100),
      null,
    ],
  ])('W13: %s', (_, damage, expected) => {
    const copy = mkdtempSync(join(folder, 'damaged-'));
    cpSync(killed, copy, { recursive: true, preserveTimestamps: true });
    const database = join(copy, 'test.db');
    damage(`${database}-wal`, database);
    expect(findWalDamage(database)).toEqual(expected);
  });
});

/** The file continues with zeros. */
function readUsedBytes(path: string): number {
  const bytes = readFileSync(path);
  let end = 32;
  while (bytes.subarray(end, end + 24).some((byte) => byte !== 0)) end += 24 + 4096;
  return end;
}
