import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { createLog } from '../log.ts';
import { systemRandom } from '../random.ts';
import { acquireBackupHold, releaseBackupHold, renewBackupHold } from './backup-holds.ts';
import type { BlobStore } from './blob-store.ts';
import { Contents } from './contents.ts';
import { openDiskBlobs } from './disk.ts';
import { ensureIdentity, findIdentity, InstallationIdentity } from './identity.ts';

const MINUTE_MS = 60_000;
const HOLD_DURATION_MS = 10 * MINUTE_MS;
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

async function listKeys(): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of blobs.list(Number.POSITIVE_INFINITY)) keys.push(key);
  return keys;
}

/** Stores content above the inline limit with a row, and removes both as every slice does. */
async function storeAndRemove(): Promise<void> {
  const { database } = server.runningServer;
  const content = await contents.prepareStream(Readable.from([Buffer.from('large')]), 10);
  await database.transact((tx) => content.insert(tx));
  const blobKeys = await database.transact((tx) => contents.remove(tx, [content.id]));
  await contents.removeBlobs(blobKeys);
}

describe('a hold', () => {
  test('keeps blobs without a row from removal and from the clean-up until its release', async () => {
    const { database } = server.runningServer;
    await storeAndRemove();
    expect(await listKeys()).toEqual([]);

    await database.transact((tx) => acquireBackupHold(tx, 'one', clock.now()));
    await storeAndRemove();
    expect(await listKeys()).toHaveLength(1);
    for (let passed = 0; passed < 2 * 60; passed += 9) {
      clock.advance(9 * MINUTE_MS);
      expect(await database.transact((tx) => renewBackupHold(tx, 'one', clock.now()))).toBe(true);
    }
    expect(await contents.cleanUp(identity)).toBe(0);
    await database.transact((tx) => releaseBackupHold(tx, 'one'));
    expect(await contents.cleanUp(identity)).toBe(1);
    expect(await listKeys()).toEqual([]);
  });

  test('expires, and cannot be renewed afterwards', async () => {
    const { database } = server.runningServer;
    await database.transact((tx) => acquireBackupHold(tx, 'two', clock.now()));
    clock.advance(HOLD_DURATION_MS);
    await storeAndRemove();
    expect(await listKeys()).toEqual([]);
    expect(await database.transact((tx) => renewBackupHold(tx, 'two', clock.now()))).toBe(false);
  });
});

describe('R1: the clean-up', () => {
  const log = createLog('silent');
  const listTrashed = (): Promise<string[]> => Array.fromAsync(blobs.listTrash(Number.POSITIVE_INFINITY));
  const createOrphan = async (): Promise<string> => {
    const { key } = await blobs.put(
      `b-${Math.trunc(clock.now())}`,
      Readable.from([Buffer.from('large')]),
      10,
    );
    clock.advance(3 * 60 * MINUTE_MS);
    return key;
  };
  const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;

  test('moves a blob without a row to the trash, and purges it a week later', async () => {
    for (const key of await listTrashed()) await blobs.purge(key);
    const key = await createOrphan();
    expect(await contents.cleanUp(identity)).toBe(1);
    expect([await listKeys(), await listTrashed()]).toEqual([[], [key]]);
    clock.advance(WEEK_MS - MINUTE_MS);
    await contents.cleanUp(identity);
    expect(await listTrashed()).toEqual([key]);
    clock.advance(2 * MINUTE_MS);
    const { database } = server.runningServer;
    await database.transact((tx) => acquireBackupHold(tx, 'three', clock.now()));
    await contents.cleanUp(identity);
    expect(await listTrashed()).toEqual([key]);
    await database.transact((tx) => releaseBackupHold(tx, 'three'));
    await contents.cleanUp(identity);
    expect(await listTrashed()).toEqual([]);
  });

  test('restores a blob from the trash when a row names it', async () => {
    const { database } = server.runningServer;
    const content = await contents.prepareStream(Readable.from([Buffer.from('large')]), 10);
    const [key = ''] = await listKeys();
    await blobs.moveToTrash(key, clock.now());
    await database.transact((tx) => content.insert(tx));
    clock.advance(WEEK_MS + MINUTE_MS);
    await contents.cleanUp(identity);
    expect([await listKeys(), await listTrashed()]).toEqual([[key], []]);
    expect((await contents.read(content.id))?.toString()).toBe('large');
  });

  test('stops when the blobs belong to another installation', async () => {
    const key = await createOrphan();
    await blobs.writeMarker({ installation: 'inst-other', generation: 1, mayBeEmpty: false });
    expect(await contents.cleanUp(identity)).toBe(0);
    const { database } = server.runningServer;
    const row = await ensureIdentity(database, { random: systemRandom, seenAt: clock.now() });
    await expect(InstallationIdentity.claim({ database, blobs, clock, log }, row)).rejects.toThrow(
      'two installations share one blob store',
    );
    await blobs.removeMarker();
    expect(await contents.cleanUp(identity)).toBe(0);
    expect(await listKeys()).toContain(key);
    await blobs.writeMarker({ installation: identity.id, generation: 1, mayBeEmpty: false });
    expect(await contents.cleanUp(identity)).toBe(1);
  });

  const readStopReason = async (): Promise<string | null | undefined> =>
    (await findIdentity(server.runningServer.database.read))?.clean_up_stopped;

  test('continues in a process that started while another one advanced the generation', async () => {
    const { database } = server.runningServer;
    const row = await ensureIdentity(database, { random: systemRandom, seenAt: clock.now() });
    await identity.advanceGeneration();
    const second = await InstallationIdentity.claim({ database, blobs, clock, log }, row);
    expect(await readStopReason()).toBeNull();
    expect(await second.findCleanUpBlocker()).toBeNull();
  });

  test.each([
    ['stops at', 61, 1, true],
    ['moves', 59, 1, false],
    ['moves, because the server itself may have written it,', 61, -1, false],
  ])(
    '%s an orphan %i minutes newer than the last change that the database knows',
    async (_, newer, startedAfter, isStopped) => {
      const { database } = server.runningServer;
      const row = await ensureIdentity(database, { random: systemRandom, seenAt: clock.now() });
      const key = await createOrphan();
      const written = Math.trunc((await blobs.stat(key))?.writtenAt ?? 0);
      const older = { ...row, seen_at: written - newer * MINUTE_MS };
      const known = await InstallationIdentity.claim({ database, blobs, clock, log }, older);
      const started = createManualClock(written + startedAfter * MINUTE_MS);
      const restarted = new Contents({ database, blobs, clock: started, random: systemRandom });
      started.advance(3 * 60 * MINUTE_MS);
      expect(await restarted.cleanUp(known)).toBe(isStopped ? 0 : 1);
      expect((await listKeys()).includes(key)).toBe(isStopped);
      const reason = expect.stringContaining(`the blob ${key} was written on`);
      expect(await readStopReason()).toEqual(isStopped ? reason : null);
      // The reason applies to every process and every later start.
      expect(await known.findCleanUpBlocker()).toEqual(isStopped ? reason : null);
      await database.transact((tx) =>
        tx.updateTable('installation_identity').set({ clean_up_stopped: null }).execute(),
      );
      await blobs.remove(key);
    },
  );
});
