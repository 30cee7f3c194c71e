/** Release notes: their dates from git, their anchors, and the feed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ContentError } from './generator/inputs/problems.ts';
import { formatAtomFeed } from './generator/output/atom-feed.ts';
import { buildSearchRecords } from './generator/output/search-records.ts';
import { readSite, type Site } from './generator/pages/read-site.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-releases-'));
  mkdirSync(join(folder, 'pages'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, notes: string, navOrder = 10): void {
  const path = join(folder, 'content', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    `---\ntitle: Releases\nintro: A description of this page, in one line.\nnavOrder: ${navOrder}\n---\n\n${notes}\n`,
  );
}

function commit(date: string): void {
  const env = {
    ...process.env,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const run = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, stdio: 'ignore' });
  run('init', '-q');
  run('add', '-A');
  run('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-q', '-m', 'Write notes');
}

const read = (): Promise<Site> =>
  readSite({
    content: { folder: join(folder, 'content'), name: 'content' },
    pages: { folder: join(folder, 'pages'), name: 'pages' },
    repository: folder,
  });
const release = (version: string, attributes = '', notes = 'Notes.') =>
  `{% release version="${version}" title="Title of ${version}" ${attributes}%}\n\n${notes}\n\n{% /release %}\n`;
const tree = (site: Site): string => JSON.stringify(site.docs.map(({ body }) => body));

describe('the date of a release', () => {
  test('is the day of the first commit of its notes in the time zone of its author, also after a move', async () => {
    write('latest.md', release('1.0.0'));
    commit('2026-03-01T23:30:00-05:00');
    write('archive.md', release('1.0.0', '', 'Notes, mended.'));
    write('latest.md', release('1.1.0', 'date="auto" '), 20);
    commit('2026-07-04T00:15:00+14:00');
    const site = await read();
    expect(tree(site)).toContain('"text":"March 1, 2026"');
    expect(tree(site)).toContain('"text":"July 4, 2026"');
    expect(site.releases.map(({ version, date, route }) => [version, date, route]).toSorted()).toEqual([
      ['1.0.0', '2026-03-01T23:30:00-05:00', '/docs/archive'],
      ['1.1.0', '2026-07-04T00:15:00+14:00', '/docs/latest'],
    ]);
  });

  test('is found with any order of attributes, and not of another version', async () => {
    write('latest.md', release('1.0.0'));
    commit('2026-03-01T12:00:00Z');
    write(
      'latest.md',
      `{% release title="Title" date="auto" version="1.0.1" %}\n\nNotes.\n\n{% /release %}\n`,
    );
    commit('2026-07-04T12:00:00Z');
    expect(tree(await read())).toContain('"text":"July 4, 2026"');
  });

  test.each(['America/Los_Angeles', 'Pacific/Auckland', 'America/Sao_Paulo'])(
    'is the same day on a machine in %s',
    async (zone) => {
      write('latest.md', release('1.0.0') + release('0.9.0', 'date="2018-11-04" '));
      commit('2026-03-01T23:30:00-05:00');
      const before = process.env.TZ;
      try {
        process.env.TZ = zone;
        expect(new Date(0).getTimezoneOffset()).not.toBe(0);
        const site = await read();
        expect(tree(site)).toContain('"text":"March 1, 2026"');
        expect(tree(site)).toContain('"text":"November 4, 2018"');
        expect(site.docs[0]?.lastUpdated?.text).toBe('March 1, 2026');
      } finally {
        if (before === undefined) delete process.env.TZ;
        else process.env.TZ = before;
      }
    },
  );

  test('can be a day', async () => {
    write('latest.md', release('1.0.0', 'date="2026-01-31" '));
    expect(tree(await read())).toContain('"text":"January 31, 2026"');
  });

  test.each(['2026-02-30', 'yesterday', '31.1.2026'])('is not %s', async (date) => {
    write('latest.md', `Text.\n\n${release('1.0.0', `date="${date}" `)}`);
    const error = await read().catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ContentError);
    expect((error as ContentError).message).toContain(
      `content/latest.md:9: The date "${date}" of a release is no day such as 2026-11-20, and not auto.`,
    );
  });
});

describe('the notes of a release', () => {
  test('have an anchor for links and searches', async () => {
    write('latest.md', `[Down](#v1-0-0)\n\n${release('1.0.0', '', '### What is new\n\nEverything.')}`);
    const site = await read();
    expect(site.docs[0]?.contents).toEqual([
      { id: 'v1-0-0', text: '1.0.0 Title of 1.0.0', level: 2 },
      { id: 'what-is-new', text: 'What is new', level: 3 },
    ]);
    expect(site.markdown.get('/docs/latest')).toMatch(
      /## 1\.0\.0 Title of 1\.0\.0\n\n[A-Z][a-z]+ \d{1,2}, \d{4}\n\n### What is new/,
    );
    expect(
      buildSearchRecords(site).map(({ sectionId, sectionHeader }) => [sectionId, sectionHeader]),
    ).toEqual([
      ['', ''],
      ['v1-0-0', '1.0.0 Title of 1.0.0'],
      ['what-is-new', 'What is new'],
    ]);
  });

  test('are on a page once', async () => {
    write('latest.md', release('1.0.0') + release('1.0.0'));
    await expect(read()).rejects.toThrow('The notes of the release 1.0.0 are on this page already.');
  });
});

test('the feed has every release, the newest first, with permanent ids', async () => {
  write('latest.md', release('1.10.0', 'date="2026-03-02" ', 'Notes & <more>.'));
  write('archive.md', release('1.2.0', 'date="2026-02-01" ') + release('1.9.1', 'date="2026-03-01" '), 20);
  const { releases } = await read();
  const feed = formatAtomFeed(releases, 'https://yard.example');
  const all = (pattern: RegExp) => [...feed.matchAll(pattern)].map((match) => match[1]);
  expect(all(/<entry>.*?<title>(.*?)<\/title>/g)).toEqual([
    'Switchyard 1.10.0: Title of 1.10.0',
    'Switchyard 1.9.1: Title of 1.9.1',
    'Switchyard 1.2.0: Title of 1.2.0',
  ]);
  expect(all(/<updated>(.*?)<\/updated>/g)).toEqual([
    '2026-03-02T00:00:00.000Z',
    '2026-03-02T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
  ]);
  expect(feed).toContain('href="https://yard.example/docs/archive#v1-9-1"');
  expect(feed).toContain('Notes &amp; &lt;more&gt;.');
  const ids = all(/<id>(.*?)<\/id>/g);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids)
    expect(id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const elsewhere = releases.map((one) => ({ ...one, route: '/docs/elsewhere' }));
  expect(
    [...formatAtomFeed(elsewhere, 'https://other.example').matchAll(/<id>(.*?)<\/id>/g)].map((one) => one[1]),
  ).toEqual(ids);
});
