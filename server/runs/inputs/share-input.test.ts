/** Sharing of the content of an input: each user keeps it, and content without users is removed. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ApplicationId, InputId } from '@switchyard/contract/schemas/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Contents } from '../../platform/blobs/contents.ts';
import { openDiskBlobs } from '../../platform/blobs/disk.ts';
import { systemClock } from '../../platform/clock.ts';
import { systemRandom } from '../../platform/random.ts';
import { createRun, waitForRunEnd } from '../../testing/fixtures/apps.ts';
import { createVersion, expectStatus, uniqueId } from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { shareInput } from './share-input.ts';

/** Above the limit for content in the database, so that it is a blob. */
const LARGE = { padding: 'x'.repeat(100_000) };

let server: TestServer;
let application: string;
let contents: Contents;
let uid: string;
beforeAll(async () => {
  server = await startTestServer();
  application = await createVersion(server);
  const { database } = server.runningServer;
  const blobs = await openDiskBlobs(join(server.dataFolder, 'blobs'));
  contents = new Contents({ database, blobs, clock: systemClock, random: systemRandom });
  uid = await findUid(application);
});
afterAll(() => server.close());

async function findUid(id: string): Promise<string> {
  const { uid: found } = await server.runningServer.database.read
    .selectFrom('applications')
    .select('uid')
    .where('id', '=', id as ApplicationId)
    .executeTakeFirstOrThrow();
  return found;
}

const share = (id: string, from = uid) =>
  shareInput({ database: server.runningServer.database, contents }, from, id as InputId);
const files = (): string[] =>
  readdirSync(join(server.dataFolder, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => one.name);
const countContents = async (): Promise<number> =>
  (await server.runningServer.database.read.selectFrom('contents').select('id').execute()).length;
const remove = (id: string) => server.request('DELETE', `/v1/applications/${application}/inputs/${id}`);

/** Creates an input from a run and deletes the run, so that only the input refers to the content. */
async function createInput(content: object = LARGE, app = application): Promise<string> {
  const run = await createRun(server, app, { input: content });
  await waitForRunEnd(server, app, run);
  const id = uniqueId('in');
  expectStatus(
    await server.request('POST', `/v1/applications/${app}/inputs`, { body: { id, run_id: run } }),
    201,
  );
  expectStatus(await server.request('DELETE', `/v1/applications/${app}/runs/${run}`), 204);
  return id;
}

describe('a user of an input', () => {
  test('gets its content and format, and keeps the content after its deletion', async () => {
    const id = await createInput();
    const { content, format } = await share(id);
    expect(format).toEqual({ input: { type: 'json' }, output: { type: 'json' } });
    expect(content.bytes).toBe(JSON.stringify(LARGE).length);
    await server.runningServer.database.transact((tx) => content.insert(tx));
    expectStatus(await remove(id), 204);
    expect(JSON.parse((await contents.read(content.id))?.toString() ?? '')).toEqual(LARGE);
  });

  test('gets a 400 with the name of the field for a missing input', async () => {
    const id = await createInput();
    const other = await findUid(await createVersion(server));
    for (const [one, from] of [
      ['missing', uid],
      ['', uid],
      [id, other],
    ] as const) {
      await expect(share(one, from)).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining(`input_id is "${one}"; it must be a managed input`),
      });
    }
  });

  test('gets a 400 when the input is deleted before the content is inserted', async () => {
    const id = await createInput();
    const { content } = await share(id);
    expectStatus(await remove(id), 204);
    await expect(server.runningServer.database.transact((tx) => content.insert(tx))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`input_id is "${id}"`),
    });
  });

  test('concurrent with the deletion has the whole content or is refused', async () => {
    for (let round = 0; round < 12; round += 1) {
      const id = await createInput({ ...LARGE, round });
      const { content } = await share(id);
      const [shared] = await Promise.allSettled([
        server.runningServer.database.transact((tx) => content.insert(tx)),
        remove(id),
      ]);
      const read = (await contents.read(content.id))?.toString();
      if (shared.status === 'fulfilled') expect(JSON.parse(read ?? '')).toMatchObject({ round });
      else expect([shared.reason.status, read]).toEqual([400, undefined]);
    }
  });
});

describe('no content remains', () => {
  test('of a deleted input', async () => {
    const before = [await countContents(), files().length];
    const id = await createInput({ ...LARGE, left: 1 });
    expect([await countContents(), files().length]).toEqual(before.map((count) => count + 1));
    expectStatus(await remove(id), 204);
    expect([await countContents(), files().length]).toEqual(before);
  });

  test('of an input that is refused for its id', async () => {
    const id = await createInput();
    const run = await createRun(server, application, { input: LARGE });
    await waitForRunEnd(server, application, run);
    const before = await countContents();
    const body = { id, run_id: run };
    expectStatus(await server.request('POST', `/v1/applications/${application}/inputs`, { body }), 400);
    expect(await countContents()).toBe(before);
  });

  test('of a deleted application with many inputs', async () => {
    const app = await createVersion(server);
    const owner = await findUid(app);
    const inputs = () =>
      server.runningServer.database.read
        .selectFrom('inputs')
        .select(['id', 'content_id'])
        .where('application_uid', '=', owner)
        .execute();
    const idle = files().length;
    for (let count = 0; count < 3; count += 1) await createInput({ ...LARGE, count }, app);
    expect(files().length).toBe(idle + 3);
    const run_id = await createRun(server, app, { input: {} });
    const path = `/v1/applications/${app}/inputs`;
    await Promise.all(
      Array.from({ length: 210 }, () =>
        server.request('POST', path, { body: { id: uniqueId('in'), run_id } }),
      ),
    );
    const contentIds = (await inputs()).map((one) => one.content_id);
    expect(contentIds).toHaveLength(213);
    expectStatus(await server.request('DELETE', `/v1/applications/${app}`), 204);
    await expect.poll(inputs).toEqual([]);
    const remaining = server.runningServer.database.read
      .selectFrom('contents')
      .select('id')
      .where('id', 'in', contentIds);
    expect(await remaining.execute()).toEqual([]);
    // The archive of the app may still exist.
    await expect.poll(() => files().length).toBeLessThanOrEqual(idle);
  });
});
