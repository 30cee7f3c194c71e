/** The search of the real pages through the server, with questions of readers. search-box.test.ts tests the box. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  SEARCH_QUERY_CHARS_MAX,
  type SearchResponse,
  splitAtMarks,
} from '@switchyard/contract/site/search.ts';
import type { SearchRecord } from '@switchyard/contract/site/search-records.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtSiteFolder } from './testing/built-site.ts';
import {
  FIRST_WEEK_QUESTIONS,
  HELD_OUT_QUESTIONS,
  REPORTED_QUESTIONS,
  REVIEW_QUESTIONS,
  SEARCH_QUESTIONS,
  TASK_QUESTIONS,
} from './testing/search-questions.ts';

let server: TestServer;

const search = async (query: string): Promise<SearchResponse> => {
  const { status, body } = await server.request('GET', `/search/v1docs?q=${encodeURIComponent(query)}`);
  expect(status).toBe(200);
  return body as SearchResponse;
};

beforeAll(async () => {
  server = await startTestServer({ site: builtSiteFolder });
});
afterAll(() => server?.close());

describe('a question of readers', () => {
  test.each(REPORTED_QUESTIONS)(
    'B21: “$query” finds its page in the first three hits',
    async ({ query: question, page }) => {
      const slugs = (await search(question)).hits.map(({ slug }) => slug);
      expect(slugs.slice(0, 3)).toContain(page);
    },
  );

  test.each([
    ...SEARCH_QUESTIONS,
    ...HELD_OUT_QUESTIONS,
    ...TASK_QUESTIONS,
    ...REVIEW_QUESTIONS,
    ...FIRST_WEEK_QUESTIONS,
  ])('“$query” finds its page in the first three hits', async ({ query, page }) => {
    const slugs = (await search(query)).hits.slice(0, 3).map(({ slug }) => slug);
    expect(
      slugs.filter((slug) => slug === page || slug.startsWith(`${page}/`)),
      slugs.join(', '),
    ).not.toEqual([]);
  });

  test('B21: both spellings of a word give the same hits', async () => {
    const searchSlugs = async (query: string) =>
      (await search(query)).hits.map(({ slug }) => slug).toSorted();
    for (const [british, american] of [
      ['optimisation', 'optimization'],
      ['licence', 'license'],
      // The pages have one of these two spellings.
      ['modelling', 'modeling'],
    ] as const)
      expect(await searchSlugs(american)).toEqual(await searchSlugs(british));
  });

  test.each([
    ['gurobi', '/docs/integrations/solvers/commercial'],
    ['or-tools', '/docs/integrations/solvers/or-tools'],
    ['cp-sat', '/docs/integrations/solvers/or-tools'],
    ['multi-file', '/docs/integrations/data/multi-file'],
    ['upload csv files', '/docs/integrations/data/csv-archive'],
  ])('B3: %s has results in the box and on the page of results', async (query, slug) => {
    expect((await search(query)).hits.map((hit) => hit.slug)).toContain(slug);
    const page = await fetch(`${server.url}/search?q=${encodeURIComponent(query)}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain(`<a href="${slug}`);
  });

  test('B3: no words of the pages, among any other text, make a search fail', async () => {
    const records: SearchRecord[] = JSON.parse(readFileSync(join(builtSiteFolder, 'search.json'), 'utf8'));
    const words = new Set(records.flatMap(({ content, names }) => `${content} ${names}`.split(/\s+/)));
    const joined = [...words].filter((word) => /[^\p{L}\p{N}]/u.test(word));
    expect(joined.length).toBeGreaterThan(1000);
    const queries = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...joined) }, fc.string()), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(queries, async (parts) => {
        const query = parts.join(' ').trim().slice(0, SEARCH_QUERY_CHARS_MAX).toWellFormed();
        const { hits, marks } = await search(query);
        for (const { content } of hits) {
          const parts = splitAtMarks(content, marks).map(({ text }) => text);
          expect(parts.join('')).toBe(content);
        }
        const page = await fetch(`${server.url}/search?q=${encodeURIComponent(query)}`);
        expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
        await page.arrayBuffer();
      }),
      { numRuns: 50 },
    );
  });

  test('operations are found by their names on their pages, in the promised shape', async () => {
    const [hit] = (await search('createRun')).hits;
    expect(hit).toMatchObject({
      type: 'operation',
      sectionId: 'create-run',
      sectionHeader: expect.any(String),
    });
    expect(hit?.slug).toMatch(/^\/docs\/using-switchyard\/reference\/api\//);
    // A passage must not show the marks around code of the description.
    expect(hit?.content).toContain('instance_id');
    expect(hit?.content).not.toContain('`');
    const { hits } = await search('next_page_token');
    expect(hits.some(({ type }) => type === 'operation')).toBe(true);
    for (const one of hits)
      expect(Object.keys(one).toSorted()).toEqual([
        'content',
        'meta',
        'sectionHeader',
        'sectionId',
        'slug',
        'type',
      ]);
  });

  test('every hit leads to an existing heading', async () => {
    for (const { query: question } of SEARCH_QUESTIONS) {
      for (const { slug, sectionId } of (await search(question)).hits) {
        const response = await fetch(`${server.url}${slug}`);
        expect(response.status, slug).toBe(200);
        if (sectionId !== '') expect(await response.text(), slug).toContain(` id="${sectionId}"`);
      }
    }
  });
});
