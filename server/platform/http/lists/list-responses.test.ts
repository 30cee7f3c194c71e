/** Whole lists, for callers that do not page: all rows, in order, with at most one batch in memory. */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createVersion } from '../../../testing/fixtures/resources.ts';
import { startTestServer } from '../../../testing/servers/test-server.ts';
import { Encryptor } from '../../database/encryption.ts';
import { systemRandom } from '../../random.ts';
import { respondWithList, respondWithListObject } from './list-responses.ts';
import { type PageRequest, PageTokens } from './pagination.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const lists = { pageTokens: new PageTokens(new Encryptor(Buffer.alloc(32, 1), systemRandom)), log };

/** Creates a list of rows, newest first, that records the limit of each query. */
function createRows(count: number) {
  const all = Array.from({ length: count }, (_, index) => ({ created_at: count - index, id: `r${index}` }));
  const limits: number[] = [];
  const queryRows = async ({ after, limit }: PageRequest) => {
    const from = after === null ? 0 : all.findIndex((row) => row.id === after.id) + 1;
    limits.push(limit ?? Number.POSITIVE_INFINITY);
    return all.slice(from, from + (limit ?? count) + 1);
  };
  const formatBodies = (rows: typeof all) => rows.map(({ id }) => ({ id }));
  return {
    source: { tokenScope: 'rows', query: {}, queryRows, formatBodies, batchSize: 10 },
    limits,
    ids: all.map(({ id }) => ({ id })),
  };
}

const getStream = (response: object): Readable => (response as { raw: Readable }).raw;

describe('a whole list', () => {
  test.each([0, 1, 10, 11, 20, 95])('has all of %i rows, as an array and as an object', async (count) => {
    const { source, ids, limits } = createRows(count);
    const array = await respondWithList(lists, source);
    const object = await respondWithListObject(lists, source);
    if (count <= 10) {
      expect([array, object]).toEqual([
        { status: 200, body: ids },
        { status: 200, body: { items: ids } },
      ]);
      return;
    }
    expect(JSON.parse(await text(getStream(array)))).toEqual(ids);
    expect(JSON.parse(await text(getStream(object)))).toEqual({ items: ids });
    expect(Math.max(...limits)).toBe(10);
  });

  test('queries rows no faster than the client reads', async () => {
    const { source, limits } = createRows(100_000);
    const raw = getStream(await respondWithList(lists, source));
    raw.once('readable', () => raw.read(1));
    await new Promise((resolve) => raw.once('readable', resolve));
    expect(limits.length).toBeLessThan(1000);
    raw.destroy();
  });

  test('fails in the middle of the stream when a query fails, so that no client gets a part as the whole', async () => {
    const { source } = createRows(50);
    let queries = 0;
    const queryRows = async (page: PageRequest) => {
      queries += 1;
      if (queries === 3) throw new Error('the database is gone');
      return source.queryRows(page);
    };
    await expect(text(getStream(await respondWithList(lists, { ...source, queryRows })))).rejects.toThrow(
      'is gone',
    );
  });

  test('of versions has the items of its pages over HTTP', async () => {
    await using server = await startTestServer();
    const application = await createVersion(server);
    const path = `/v1/applications/${application}/versions`;
    for (let number = 2; number <= 12; number += 1)
      await server.request('POST', path, { body: { id: `v${number}`, name: `Version ${number}` } });
    const whole = await server.request('GET', path);
    expect(whole.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(whole.headers.get('content-length')).toBeNull();
    const paged = await server.request('GET', `${path}?pagereturn=true&limit=50`);
    expect(whole.body).toEqual((paged.body as { items: unknown[] }).items);
    expect(whole.body).toHaveLength(12);
  });
});
