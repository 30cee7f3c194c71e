/** Whole lists, for callers that do not page: everything, in order, and never more in memory than a part. */

import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createVersion } from '../../testing/fixtures/resources.ts';
import { startTestServer } from '../../testing/servers/test-server.ts';
import { respondWithList, respondWithListObject } from './list-responses.ts';
import { type PageRequest, PageTokens } from './pagination.ts';

const tokens = new PageTokens(Buffer.alloc(32, 1));

/** Rows of a list, newest first, and how many were asked for at a time. */
function rowsOf(count: number) {
  const all = Array.from({ length: count }, (_, index) => ({ created_at: count - index, id: `r${index}` }));
  const asked: number[] = [];
  const rows = async ({ after, limit }: PageRequest) => {
    const from = after === null ? 0 : all.findIndex((row) => row.id === after.id) + 1;
    asked.push(limit ?? Number.POSITIVE_INFINITY);
    return all.slice(from, from + (limit ?? count) + 1);
  };
  const bodies = (part: typeof all) => part.map(({ id }) => ({ id }));
  return {
    listed: { tokenScope: 'rows', query: {}, queryRows: rows, formatBodies: bodies, batchSize: 10 },
    asked,
    ids: all.map(({ id }) => ({ id })),
  };
}

const rawOf = (answer: object): Readable => (answer as { raw: Readable }).raw;

describe('a list that is asked for as a whole', () => {
  test.each([0, 1, 10, 11, 20, 95])('has all of %i rows, as an array and as an object', async (count) => {
    const { listed, ids, asked } = rowsOf(count);
    const array = await respondWithList(tokens, listed);
    const object = await respondWithListObject(tokens, listed);
    if (count <= 10) {
      expect([array, object]).toEqual([
        { status: 200, body: ids },
        { status: 200, body: { items: ids } },
      ]);
      return;
    }
    expect(JSON.parse(await text(rawOf(array)))).toEqual(ids);
    expect(JSON.parse(await text(rawOf(object)))).toEqual({ items: ids });
    expect(Math.max(...asked)).toBe(10);
  });

  test('is read no faster than it is taken', async () => {
    const { listed, asked } = rowsOf(100_000);
    const raw = rawOf(await respondWithList(tokens, listed));
    raw.once('readable', () => raw.read(1));
    await new Promise((resolve) => raw.once('readable', resolve));
    expect(asked.length).toBeLessThan(1000);
    raw.destroy();
  });

  test('ends in the middle when it cannot be read on, so that nobody takes it for the whole', async () => {
    const { listed } = rowsOf(50);
    let parts = 0;
    const rows = async (page: PageRequest) => {
      parts += 1;
      if (parts === 3) throw new Error('the database is gone');
      return listed.queryRows(page);
    };
    await expect(text(rawOf(await respondWithList(tokens, { ...listed, queryRows: rows })))).rejects.toThrow(
      'is gone',
    );
  });

  test('of versions comes over HTTP as its pages do', async () => {
    await using server = await startTestServer();
    const application = await createVersion(server);
    const path = `/v1/applications/${application}/versions`;
    for (let at = 2; at <= 12; at += 1)
      await server.request('POST', path, { body: { id: `v${at}`, name: `Version ${at}` } });
    const whole = await server.request('GET', path);
    expect(whole.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(whole.headers.get('content-length')).toBeNull();
    const paged = await server.request('GET', `${path}?pagereturn=true&limit=50`);
    expect(whole.body).toEqual((paged.body as { items: unknown[] }).items);
    expect(whole.body).toHaveLength(12);
  });
});
