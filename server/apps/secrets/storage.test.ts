/** Storage of secrets: encrypted, bound to their collection, and removed with their application. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '@switchyard/contract/roles.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createApplication,
  createVersion,
  expectError,
  expectStatus,
  uniqueId,
} from '../../testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const VALUE = 'treasure-of-the-island-7391';
const SECRETS = [{ type: 'env', location: 'HIDDEN_PLACE', value: VALUE }];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const buildPath = (application: string, id = ''): string =>
  `/v1/applications/${application}/secrets${id === '' ? '' : `/${id}`}`;
async function createCollection(application: string, id = uniqueId('s')): Promise<string> {
  const body = { id, name: 'Any name', secrets: SECRETS };
  const headers = { 'idempotency-key': `make ${application} ${id}`.replaceAll(' ', '-') };
  expectStatus(await server.request('POST', buildPath(application), { body, headers }), 201);
  return id;
}

/** Returns every row of the database as text, with bytes as Latin-1. */
async function readAllRows(): Promise<string> {
  const { kind, read } = server.runningServer.database;
  const tables = await (kind === 'postgres'
    ? sql<{
        name: string;
      }>`select table_name as name from information_schema.tables where table_schema = 'public'`
    : sql<{ name: string }>`select name from sqlite_master where type = 'table'`
  ).execute(read);
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(read);
    for (const row of rows)
      for (const value of Object.values(row))
        texts.push(value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value));
  }
  return texts.join('\n');
}

describe('at rest', () => {
  test('the tables and files of the server contain no value and no location', async () => {
    const application = await createApplication(server);
    const id = await createCollection(application);
    expectStatus(
      await server.request('PUT', buildPath(application, id), { body: { secrets: SECRETS } }),
      200,
    );
    const rows = await readAllRows();
    expect(rows).toContain(id);
    expect(rows).not.toContain(VALUE);
    expect(rows).not.toContain('HIDDEN_PLACE');
    const files = readdirSync(server.dataFolder, { withFileTypes: true, recursive: true }).filter((one) =>
      one.isFile(),
    );
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const bytes = readFileSync(join(file.parentPath, file.name));
      expect(bytes.includes(VALUE), file.name).toBe(false);
      expect(bytes.includes('HIDDEN_PLACE'), file.name).toBe(false);
    }
  });

  test('secrets survive a restart', async () => {
    const application = await createApplication(server);
    const id = await createCollection(application);
    await server.restart();
    expect((await server.request('GET', buildPath(application, id))).body).toMatchObject({
      secrets: SECRETS,
    });
  });

  test('the same secrets have a different ciphertext each time', async () => {
    const application = await createApplication(server);
    await createCollection(application, 'one');
    await createCollection(application, 'two');
    const { rows } = await sql<{ secrets: Uint8Array }>`
      select c.secrets from secrets_collections c join applications a on a.uid = c.application_uid
      where a.id = ${application}`.execute(server.runningServer.database.read);
    const [one, two] = rows.map((row) => Buffer.from(row.secrets).toString('hex'));
    expect(one).toHaveLength(two?.length ?? 0);
    expect(one).not.toBe(two);
  });

  test.each(['another collection', 'another application'])(
    'a row moved to %s cannot be read there',
    async (to) => {
      const application = await createApplication(server);
      const own = await createCollection(application, uniqueId('s'));
      const elsewhere = to === 'another application' ? await createApplication(server) : application;
      const other = await createCollection(elsewhere, to === 'another application' ? own : uniqueId('s'));
      const secrets = [{ type: 'env', location: 'OTHER', value: 'of the other' }];
      expectStatus(await server.request('PUT', buildPath(elsewhere, other), { body: { secrets } }), 200);
      await server.runningServer.database.transact((tx) =>
        sql`update secrets_collections set secrets = (
            select c.secrets from secrets_collections c join applications a on a.uid = c.application_uid
            where c.id = ${own} and a.id = ${application})
          where id = ${other} and application_uid = (select uid from applications where id = ${elsewhere})`.execute(
          tx,
        ),
      );
      const response = await server.request('GET', buildPath(elsewhere, other));
      expect(response.status).toBe(500);
      expect(response.text).not.toContain(VALUE);
      expect((await server.request('GET', buildPath(application, own))).body).toMatchObject({
        secrets: SECRETS,
      });
    },
  );
});

describe('by role', () => {
  const MAY: Record<Role, [list: number, get: number, write: number]> = {
    root: [200, 200, 200],
    admin: [200, 200, 200],
    developer: [200, 200, 200],
    operator: [200, 403, 403],
    viewer: [200, 403, 403],
    unassigned: [403, 403, 403],
  };
  test.each(Object.entries(MAY))(
    '%s lists, reads and writes as the table says',
    async (role, [list, get, write]) => {
      const application = await createApplication(server);
      const id = await createCollection(application);
      const { token } = await server.createKey(role as Role);
      const request = (method: string, path: string, body?: unknown) =>
        server.request(method, path, { token, body });
      const listed = await request('GET', buildPath(application));
      const read = await request('GET', buildPath(application, id));
      const written = await request('PUT', buildPath(application, id), { name: 'New name' });
      const created = await request('POST', buildPath(application), { secrets: SECRETS });
      const removed = await request('DELETE', buildPath(application, id));
      expect([listed.status, read.status, written.status]).toEqual([list, get, write]);
      expect([created.status, removed.status]).toEqual(write === 200 ? [201, 204] : [403, 403]);
      for (const response of [listed, written, created]) expect(response.text).not.toContain(VALUE);
      expect(read.text.includes(VALUE)).toBe(get === 200);
    },
  );
});

describe('used by an instance', () => {
  const instance = (application: string, method: string, id: string, configuration: object) =>
    server.request(method, `/v1/applications/${application}/instances${method === 'POST' ? '' : `/${id}`}`, {
      body: { ...(method === 'POST' ? { id } : {}), version_id: 'v1', configuration },
    });

  test('400 that names the instance, until the instance no longer uses it', async () => {
    const application = await createVersion(server);
    const id = await createCollection(application);
    const configuration = { secrets_collection_id: id };
    const response = await instance(application, 'POST', 'user', configuration);
    expectStatus(response, 201);
    expect(response.body).toMatchObject({ configuration });
    const remove = () => server.request('DELETE', buildPath(application, id));
    expectError(await remove(), 400, 'is used by the instance "user"');
    expectStatus(await server.request('GET', buildPath(application, id)), 200);
    // An update without the field keeps the reference; an empty id removes it.
    expectStatus(
      await server.request('PUT', `/v1/applications/${application}/instances/user`, {
        body: { name: 'Renamed' },
      }),
      200,
    );
    expectError(await remove(), 400, '"user"');
    expectStatus(await instance(application, 'PUT', 'user', { secrets_collection_id: '' }), 200);
    expectStatus(await remove(), 204);
  });

  test('204 after the instance is deleted', async () => {
    const application = await createVersion(server);
    const id = await createCollection(application);
    expectStatus(await instance(application, 'POST', 'user', { secrets_collection_id: id }), 201);
    expectStatus(await server.request('DELETE', `/v1/applications/${application}/instances/user`), 204);
    expectStatus(await server.request('DELETE', buildPath(application, id)), 204);
  });

  test('400 for an instance that names a missing one or one of another application', async () => {
    const application = await createVersion(server);
    const foreign = await createCollection(await createApplication(server));
    expectStatus(await instance(application, 'POST', 'user', {}), 201);
    for (const id of ['missing', foreign]) {
      const words = `configuration.secrets_collection_id is "${id}"`;
      const configuration = { secrets_collection_id: id };
      expectError(await instance(application, 'POST', 'other', configuration), 400, words);
      expectError(await instance(application, 'PUT', 'user', configuration), 400, words);
    }
    const { body } = await server.request('GET', `/v1/applications/${application}/instances/user`);
    expect(body).toMatchObject({ configuration: { secrets_collection_id: '' } });
  });

  test('deletion concurrent with a new use: one of the two succeeds', async () => {
    const application = await createVersion(server);
    for (let round = 0; round < 8; round += 1) {
      const id = await createCollection(application);
      const [used, deleted] = await Promise.all([
        instance(application, 'POST', `user-${round}`, { secrets_collection_id: id }),
        server.request('DELETE', buildPath(application, id)),
      ]);
      expect([
        [201, 400],
        [400, 204],
      ]).toContainEqual([used.status, deleted.status]);
    }
  });
});

test('secrets are removed with their application; a new application with its id has none', async () => {
  const application = await createApplication(server);
  const id = await createCollection(application);
  const count = async () =>
    (
      await sql<{ id: string }>`select id from secrets_collections where id = ${id}`.execute(
        server.runningServer.database.read,
      )
    ).rows.length;
  expect(await count()).toBe(1);
  expectStatus(await server.request('DELETE', `/v1/applications/${application}`), 204);
  await expect.poll(count).toBe(0);
  await server.client.call('createApplication', { body: { id: application, name: 'Created again' } });
  expect((await server.request('GET', buildPath(application))).body).toEqual({ items: [] });
});
