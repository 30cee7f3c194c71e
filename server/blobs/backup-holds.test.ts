import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { systemRandom } from '../random.ts';
import { createManualClock } from '../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../testing/servers/test-server.ts';
import { acquireBackupHold, releaseBackupHold, renewBackupHold } from './backup-holds.ts';
import type { BlobStore } from './blob-store.ts';
import { Contents } from './contents.ts';
import { openDiskBlobs } from './disk.ts';
import { ensureIdentity, findIdentity, InstallationIdentity } from './identity.ts';

const MINUTE = 60_000;
const HELD_MS = 10 * MINUTE;
const clock = createManualClock(Date.now());
let server: TestServer;
let folder: string;
let blobs: BlobStore;
let contents: Contents;
let identity: InstallationIdentity;
beforeAll(async () => {
  server = await startTestServer();
  folder = mkdtempSync(join(tmpdir(), 'switchyard-holds-'));
  blobs = await openDiskBlobs(folder);
  const { database } = server.runningServer;
  const row = await ensureIdentity(database, { random: systemRandom, seenAt: clock.now() });
  identity = await InstallationIdentity.claim({ database, blobs, clock, log: createLog('silent') }, row);
  contents = new Contents({ database: server.runningServer.database, blobs, clock, random: systemRandom });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

async function keys(): Promise<string[]> {
  const found: string[] = [];
  for await (const key of blobs.list(Number.POSITIVE_INFINITY)) found.push(key);
  return found;
}

/** Content that a row names until it is removed the way every slice does it. */
async function madeAndRemoved(): Promise<void> {
  const { database } = server.runningServer;
  const content = await contents.prepareStream(Readable.from([Buffer.from('large')]), 10);
  await database.transact((tx) => content.insert(tx));
  const left = await database.transact((tx) => contents.remove(tx, [content.id]));
  await contents.removeBlobs(left);
}

describe('a hold', () => {
  test('keeps blobs that nobody names, from those who remove them and from the sweep, until it is dropped', async () => {
    const { database } = server.runningServer;
    await madeAndRemoved();
    expect(await keys()).toEqual([]);

    await database.transact((tx) => acquireBackupHold(tx, 'one', clock.now()));
    await madeAndRemoved();
    expect(await keys()).toHaveLength(1);
    for (let passed = 0; passed < 2 * 60; passed += 9) {
      clock.advance(9 * MINUTE);
      expect(await database.transact((tx) => renewBackupHold(tx, 'one', clock.now()))).toBe(true);
    }
    expect(await contents.cleanUp(identity)).toBe(0);
    await database.transact((tx) => releaseBackupHold(tx, 'one'));
    expect(await contents.cleanUp(identity)).toBe(1);
    expect(await keys()).toEqual([]);
  });

  test('ends by itself, and is not taken up again', async () => {
    const { database } = server.runningServer;
    await database.transact((tx) => acquireBackupHold(tx, 'two', clock.now()));
    clock.advance(HELD_MS);
    await madeAndRemoved();
    expect(await keys()).toEqual([]);
    expect(await database.transact((tx) => renewBackupHold(tx, 'two', clock.now()))).toBe(false);
  });
});

describe('R1: the clean-up', () => {
  const log = createLog('silent');
  const trashed = (): Promise<string[]> => Array.fromAsync(blobs.listTrash(Number.POSITIVE_INFINITY));
  const orphan = async (): Promise<string> => {
    const { key } = await blobs.put(
      `b-${Math.trunc(clock.now())}`,
      Readable.from([Buffer.from('large')]),
      10,
    );
    clock.advance(3 * 60 * MINUTE);
    return key;
  };
  const week = 7 * 24 * 60 * MINUTE;

  test('moves what no row names to the trash, and purges it a week later', async () => {
    for (const key of await trashed()) await blobs.purge(key);
    const key = await orphan();
    expect(await contents.cleanUp(identity)).toBe(1);
    expect([await keys(), await trashed()]).toEqual([[], [key]]);
    clock.advance(week - MINUTE);
    await contents.cleanUp(identity);
    expect(await trashed()).toEqual([key]);
    clock.advance(2 * MINUTE);
    const { database } = server.runningServer;
    await database.transact((tx) => acquireBackupHold(tx, 'three', clock.now()));
    await contents.cleanUp(identity);
    expect(await trashed()).toEqual([key]);
    await database.transact((tx) => releaseBackupHold(tx, 'three'));
    await contents.cleanUp(identity);
    expect(await trashed()).toEqual([]);
  });

  test('brings back what a row names after all', async () => {
    const { database } = server.runningServer;
    const content = await contents.prepareStream(Readable.from([Buffer.from('large')]), 10);
    const [key = ''] = await keys();
    await blobs.moveToTrash(key, clock.now());
    await database.transact((tx) => content.insert(tx));
    clock.advance(week + MINUTE);
    await contents.cleanUp(identity);
    expect([await keys(), await trashed()]).toEqual([[key], []]);
    expect((await contents.read(content.id))?.toString()).toBe('large');
  });

  test('stops where the blobs belong to another installation by now', async () => {
    const key = await orphan();
    await blobs.writeMarker({ installation: 'inst-other', generation: 1, mayBeEmpty: false });
    expect(await contents.cleanUp(identity)).toBe(0);
    const { database } = server.runningServer;
    const row = await ensureIdentity(database, { random: systemRandom, seenAt: clock.now() });
    await expect(InstallationIdentity.claim({ database, blobs, clock, log }, row)).rejects.toThrow(
      'two installations share one blob store',
    );
    await blobs.removeMarker();
    expect(await contents.cleanUp(identity)).toBe(0);
    expect(await keys()).toContain(key);
    await blobs.writeMarker({ installation: identity.id, generation: 1, mayBeEmpty: false });
    expect(await contents.cleanUp(identity)).toBe(1);
  });

  const stopped = async (): Promise<string | null | undefined> =>
    (await findIdentity(server.runningServer.database.read))?.clean_up_stopped;

  test('continues in a process that started while another one advanced the generation', async () => {
    const { database } = server.runningServer;
    const row = await ensureIdentity(database, { random: systemRandom, seenAt: clock.now() });
    await identity.advanceGeneration();
    const second = await InstallationIdentity.claim({ database, blobs, clock, log }, row);
    expect(await stopped()).toBeNull();
    expect(await second.findCleanUpBlocker()).toBeNull();
  });

  test.each([
    ['stops at', 61, 1, true],
    ['moves', 59, 1, false],
    ['moves, where the server itself may have written it,', 61, -1, false],
  ])('%s an orphan %i minutes newer than the database knew', async (_, newer, startedAfter, isStopped) => {
    const { database } = server.runningServer;
    const row = await ensureIdentity(database, { random: systemRandom, seenAt: clock.now() });
    const key = await orphan();
    const written = Math.trunc((await blobs.stat(key))?.writtenAt ?? 0);
    const older = { ...row, seen_at: written - newer * MINUTE };
    const known = await InstallationIdentity.claim({ database, blobs, clock, log }, older);
    const started = createManualClock(written + startedAfter * MINUTE);
    const restarted = new Contents({ database, blobs, clock: started, random: systemRandom });
    started.advance(3 * 60 * MINUTE);
    expect(await restarted.cleanUp(known)).toBe(isStopped ? 0 : 1);
    expect((await keys()).includes(key)).toBe(isStopped);
    const reason = expect.stringContaining(`the blob ${key} was written on`);
    expect(await stopped()).toEqual(isStopped ? reason : null);
    // For every process and every later start.
    expect(await known.findCleanUpBlocker()).toEqual(isStopped ? reason : null);
    await database.transact((tx) =>
      tx.updateTable('installation_identity').set({ clean_up_stopped: null }).execute(),
    );
    await blobs.remove(key);
  });
});
