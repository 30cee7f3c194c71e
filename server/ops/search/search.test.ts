import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  SEARCH_QUERY_CHARS_MAX,
  type SearchResponse,
  splitAtMarks,
} from '@switchyard/contract/site/search.ts';
import type { SearchRecord } from '@switchyard/contract/site/search-records.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { renderResultsPage, SEARCH_RATE_LIMIT } from './search.ts';
import { createSearch, extractExcerpt } from './search-index.ts';

function record(slug: string, pageTitle: string, content: string, more: Partial<SearchRecord> = {}) {
  const meta = { pageNavLabel: pageTitle, pageSection: 'Guides', pageTitle };
  return {
    content,
    slug,
    sectionId: '',
    sectionHeader: '',
    type: 'page',
    meta,
    names: '',
    keywords: '',
    ...more,
  } satisfies SearchRecord;
}

const records: SearchRecord[] = [
  record('/docs/queue', 'Queue', 'Runs wait in the queue by priority, then by age.'),
  record(
    '/docs/secrets',
    'Secrets',
    'A secret is a value that apps need. It is kept encrypted in a collection.',
  ),
  record('/docs/logs', 'Logs', 'Lines of standard error as they come, until you cancel.', {
    sectionId: 'live-logs',
    sectionHeader: 'Live logs',
    type: 'section',
    names: 'next_page_token status_v2',
  }),
  record('/docs/roles', 'Roles', 'The rights of each role.', { keywords: 'permissions' }),
  record(
    '/docs/solvers',
    'Solvers',
    'OR-Tools has CP-SAT; a licence of Gurobi is in the sub-folder a/b.c_d.',
    {
      keywords: 'or-tools',
    },
  ),
  record('/docs/both', 'Priority of secrets', 'Here both words are analyzed.'),
  ...['one', 'two', 'three', 'four'].map((id) =>
    record('/docs/many', 'Many', `The depot, part ${id}.`, {
      sectionId: id,
      sectionHeader: id,
      type: 'section',
    }),
  ),
];

const slugs = ({ hits }: SearchResponse): string[] => hits.map(({ slug }) => slug);

describe('the search index', () => {
  const search = createSearch(records);

  test.each([
    ['a word', 'queue', '/docs/queue'],
    ['a word in capitals and with accents', 'QUÉUE', '/docs/queue'],
    ['the beginning of a word', 'encryp', '/docs/secrets'],
    ['another form of a word', 'encrypting', '/docs/secrets'],
    ['a name with a hyphen', 'or-tools', '/docs/solvers'],
    ['the American spelling', 'licenses', '/docs/solvers'],
    ['the British spelling of a word', 'analysed', '/docs/both'],
    ['a word of the same meaning', 'abort', '/docs/logs'],
    ['the beginning of another form of a word', 'priorit', '/docs/both'],
    ['a joined name', 'next_page_token', '/docs/logs'],
    ['a part of a joined name', 'token', '/docs/logs'],
    ['a heading', 'live', '/docs/logs'],
    ['a keyword', 'permission', '/docs/roles'],
    ['a word with a wrong letter', 'secrots', '/docs/secrets'],
    ['several words, one of them unknown', 'priority zeppelin', '/docs/both'],
    ['one word among stop words', 'how is the queue of it', '/docs/queue'],
  ])('finds a page by %s', (_case, query, slug) => {
    expect(slugs(search(query))[0]).toBe(slug);
  });

  test('lists places with all words first, then places with some', () => {
    expect(slugs(search('priority secrets'))).toEqual(['/docs/both', '/docs/secrets', '/docs/queue']);
  });

  test.each(['zeppelin', 'lgs', '', '   ', '!!! ???', '✈️'])('finds nothing for %j', (query) => {
    expect(search(query)).toEqual({ query, hits: [], marks: [] });
  });

  test('matches similar words only when no word matches exactly', () => {
    expect(slugs(search('value'))).toEqual(['/docs/secrets']);
    expect(slugs(search('velue'))).toEqual(['/docs/secrets']);
    expect(slugs(search('velue queue'))).toEqual(['/docs/queue']);
  });

  test('lists at most two places of a page, the second after other pages', () => {
    expect(slugs(search('depot'))).toEqual(['/docs/many', '/docs/many']);
    expect(slugs(search('depot queue'))).toEqual(['/docs/queue', '/docs/many', '/docs/many']);
    expect(slugs(search('many apps'))).toEqual(['/docs/many', '/docs/secrets', '/docs/many']);
  });

  test('returns hits of the documented shape', () => {
    const { hits, marks } = search('live log lines');
    expect(hits[0]).toEqual({
      content: 'Lines of standard error as they come, until you cancel.',
      slug: '/docs/logs',
      sectionId: 'live-logs',
      sectionHeader: 'Live logs',
      type: 'section',
      meta: { pageNavLabel: 'Logs', pageSection: 'Guides', pageTitle: 'Logs' },
    });
    expect(marks.toSorted()).toEqual(['lines', 'live', 'logs']);
  });

  // Mixes indexed words, joints and arbitrary text, so that some queries have hits with marked words.
  const indexed = records.flatMap(({ content, names }) => `${content} ${names}`.split(' '));
  const queries = fc.oneof(
    fc.string({ unit: 'binary', maxLength: SEARCH_QUERY_CHARS_MAX }),
    fc
      .array(fc.oneof(fc.constantFrom(...indexed), fc.constantFrom('-', '_', '.', '/', ' '), fc.string()), {
        minLength: 1,
        maxLength: 8,
      })
      .map((parts) => parts.join(' ')),
  );

  test('B3: accepts any text and renders its results as a page', () => {
    fc.assert(
      fc.property(queries, (query) => {
        const response = search(query);
        expect(response.query).toBe(query);
        for (const { content } of response.hits)
          expect(
            splitAtMarks(content, response.marks)
              .map(({ text }) => text)
              .join(''),
          ).toBe(content);
        expect(renderResultsPage('<div class="results" data-results=""></div>', response)).not.toContain(
          '<script',
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe('an excerpt', () => {
  const matches = (word: string) => word === 'depot';
  const filler = 'word '.repeat(100).trim();

  test.each([
    ['has a short text whole', 'The depot.', 'The depot.'],
    ['is empty for an empty text', '', ''],
  ])('%s', (_case, text, passage) => expect(extractExcerpt(text, matches)).toBe(passage));

  test('contains the matching words and prefers the beginning of a sentence', () => {
    const passage = extractExcerpt(`${filler}. The depot opens at six. ${filler}`, matches);
    expect(passage).toMatch(/^… The depot opens at six\. word/);
    expect(passage).toMatch(/ …$/);
    expect(passage.length).toBeLessThanOrEqual(224);
  });

  test('of one very long word is the beginning of the word', () => {
    expect(extractExcerpt('x'.repeat(5000), matches).length).toBeLessThanOrEqual(224);
  });
});

describe('splitting a text at marked words', () => {
  test.each([
    ['The queue, queued.', ['queue'], ['The ', '*queue', ', queued.']],
    ['Queue', ['queue'], ['*Queue']],
    ['a.b a+b', ['a+b', 'a.b'], ['*a.b', ' ', '*a+b']],
    ['next_page_token', ['token'], ['next_page_', '*token']],
    ['OR-Tools, or tools', ['or-tools'], ['*OR-Tools', ', or tools']],
    ['nothing', [], ['nothing']],
    ['', ['x'], []],
  ])('%j with %j', (text, marks, parts) => {
    expect(splitAtMarks(text, marks).map((part) => `${part.marked ? '*' : ''}${part.text}`)).toEqual(parts);
  });
});

describe('over HTTP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-search-'));
  let server: TestServer;
  const request = (path: string, url = server.url) => fetch(`${url}${path}`, { headers: { accept: '*/*' } });

  beforeAll(async () => {
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    write('404.html', '<!doctype html><title>Nothing</title>');
    write('error.html', '<!doctype html><title>Trouble</title><p data-error=""></p>');
    write('csp.json', JSON.stringify({ scripts: [], styles: [] }));
    // Half of a surrogate pair has no place in an address, so that the page of a search for it throws.
    const damaged = record('/docs/bad', 'Damaged', '', { sectionId: '\ud800' });
    write('search.json', JSON.stringify([...records, damaged]));
    write(
      'search.html',
      '<!doctype html><input type="search" data-question="" name="q"/><div class="results" data-results=""></div>',
    );
    server = await startTestServer({ site: folder });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('needs no token and allows no other origin', async () => {
    const response = await request('/search/v1docs?q=queue');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(await response.json()).toMatchObject({ query: 'queue', hits: [{ slug: '/docs/queue' }] });
  });

  test.each([
    ['', 'q is missing; it must be the text to search for.'],
    ['?q=a&q=b', 'q is given more than once; it must be given once.'],
    [`?q=${'x'.repeat(201)}`, 'q has 201 characters; it must have at most 200.'],
  ])('rejects %s with a message', async (query, error) => {
    const response = await request(`/search/v1docs${query}`);
    expect([response.status, await response.json()]).toEqual([
      400,
      { status: 'Bad Request', error, code: 'invalid_request' },
    ]);
  });

  test.each([
    '%',
    '%ff%fe',
    '%00',
    '%F0%9F%9A%82',
    '__proto__',
    'constructor',
    '*',
    '%22a%20b%22',
    `${'a+'.repeat(99)}`,
    'gurobi',
    'or-tools',
    'cp-sat',
    'sub-folder',
  ])('returns 200 for q=%s', async (q) => {
    expect((await request(`/search/v1docs?q=${q}`)).status).toBe(200);
    expect((await request(`/search?q=${q}`)).status).toBe(200);
  });

  test('is in no OpenAPI document', async () => {
    for (const name of ['cloud', 'marketplace']) {
      const { paths } = (await (await request(`/openapi/${name}.json`)).json()) as { paths: object };
      expect(Object.keys(paths).filter((path) => path.startsWith('/search'))).toEqual([]);
    }
  });

  test('renders results without scripts and escapes the query', async () => {
    const page = async (query: string) => (await request(`/search${query}`)).text();
    expect(await page('')).toContain('<div class="results" data-results=""></div>');
    expect(await page('?q=queue')).toContain('<a href="/docs/queue"><mark>Queue</mark></a>');
    const hostile = await page(`?q=${encodeURIComponent('"><script>$&zzz')}`);
    expect(hostile).toContain('<p>No results for &quot;&gt;&lt;script&gt;$&amp;zzz</p>');
    expect(hostile).toContain('data-question="" value="&quot;&gt;&lt;script&gt;$&amp;zzz"');
    expect(hostile).not.toContain('<script');
    expect((await request('/search?q=a&q=b')).status).toBe(400);
  });

  test.each([
    ['an unexpected error', '/search?q=damaged', '*/*', 500],
    ['an unexpected error in a browser', '/search?q=damaged', 'text/html,*/*;q=0.8', 500],
    ['an address that cannot be decoded', '/%ff', 'text/html', 400],
  ])('B3: a browser gets a page for %s', async (_case, path, accept, status) => {
    const response = await fetch(`${server.url}${path}`, { headers: { accept } });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'text/html; charset=utf-8',
    ]);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(response.headers.get('cache-control')).toBe('no-cache');
    const html = await response.text();
    expect(html).toMatch(/<title>Trouble<\/title><p data-error="">[A-Z][^<{]+\.<\/p>$/);
    const head = await fetch(`${server.url}${path}`, { method: 'HEAD', headers: { accept } });
    expect([head.status, head.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
  });

  test.each([
    ['/v1/%ff', 'text/html', 400],
    ['/%ff', 'application/json', 400],
  ])('B3: a program gets the error body at %s', async (path, accept, status) => {
    const response = await fetch(`${server.url}${path}`, { headers: { accept } });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'application/json; charset=utf-8',
    ]);
    expect(await response.json()).toEqual({
      status: expect.any(String),
      error: expect.stringMatching(/\.$/),
      code: expect.any(String),
    });
  });

  test('limits the rate by address and returns retry-after', async () => {
    const env = { SWITCHYARD_RATE_LIMIT: '6000/1000' };
    // A stopped clock: on a busy machine the bucket refilled while the requests arrived.
    await using limited = await startTestServer({ site: folder, env, clock: createManualClock(Date.now()) });
    const requests = Array.from({ length: SEARCH_RATE_LIMIT.burst + 30 }, () =>
      request('/search/v1docs?q=a', limited.url),
    );
    const refused = (await Promise.all(requests)).filter(({ status }) => status === 429);
    expect(refused).toHaveLength(30);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused[0]?.json()).toMatchObject({ status: 'Busy' });
    const page = await request('/search?q=a', limited.url);
    expect([page.status, page.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
