/** The navigation of the built pages: tasks, folded pages, names, and the one order of all pages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchRecord } from '@switchyard/contract/site/search-records.ts';
import { describe, expect, test } from 'vitest';
import { builtSiteFolder } from './testing/built-site.ts';

const overview = '/docs/get-started/quickstarts/overview';

const read = (path: string) => readFileSync(join(builtSiteFolder, path), 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');
const plain = (html: string) =>
  html.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#x27;', "'");

describe('the navigation', () => {
  const readTasks = (route: string) =>
    matches(read(`${route}.html`), /<details(?: open="")?><summary>([^<]*)<\/summary>/g);
  const tasks = ['Start', 'Build', 'Run', 'Test a change', 'Operate', 'Reference'];
  const runPage = '/docs/using-switchyard/run/logging';

  test('is grouped by task, and the task of the page is open', () => {
    expect(readTasks(overview)).toEqual(tasks);
    expect(matches(read(`${runPage}.html`), /<details open=""><summary>([^<]*)<\/summary>/g)).toEqual([
      'Run',
    ]);
    expect(read(`${runPage}.html`)).toMatch(/aria-label="Breadcrumb"><a href="[^"]*">Run<\/a>/);
  });

  test('the pages of the API are folded until the reader opens them or one of them', () => {
    const folded = (route: string) =>
      matches(
        read(`${route}.html`),
        /<details class="folded-pages"( open="")?><summary>API reference<\/summary>/g,
      );
    expect(folded(runPage)).toEqual([]);
    expect(folded('/docs/using-switchyard/reference/statistics')).toEqual([]);
    expect(folded('/docs/using-switchyard/reference/cli/commands')).toEqual(['']);
    expect(folded('/docs/using-switchyard/reference/api/runs')).toEqual([' open=""']);
  });

  test('a task that is not open links to the first page of each of its groups', () => {
    const html = read(`${overview}.html`);
    expect(html).toContain('href="/docs/using-switchyard/experiments/shadow">In production</a>');
    expect(html).not.toContain('href="/docs/using-switchyard/experiments/switchback"');
  });
});

describe('B22: the names of pages', () => {
  const records: SearchRecord[] = JSON.parse(read('search.json'));
  const pages = new Map(records.map(({ slug, meta }) => [slug, meta]));

  test('the navigation shows the title of every page, in the search and beside its pages', () => {
    for (const [slug, { pageTitle, pageNavLabel }] of pages) {
      expect(pageNavLabel).toBe(pageTitle);
      if (slug.startsWith('/docs/')) expect(readCurrentLabel(slug)).toBe(pageTitle);
    }
  });

  const readCurrentLabel = (route: string) =>
    plain(
      matches(read(`${route}.html`), /<a class="stop" href="[^"]*" aria-current="page">([^<]*)</g)[0] ?? '',
    );

  test('no two guides have the same label', () => {
    const guides = [...pages].filter(
      ([slug]) => slug.startsWith('/docs/') && !slug.includes('/reference/api'),
    );
    const byLabel = Map.groupBy(guides, ([, { pageNavLabel }]) => pageNavLabel);
    expect([...byLabel.values()].filter((same) => same.length > 1).flat()).toEqual([]);
  });
});

describe('the order of pages', () => {
  test('next and previous connect all pages in one order', () => {
    const order = matches(read('llms.txt'), /\]\(http:\/\/127\.0\.0\.1:8080([^)]*)\.md\)/g);
    expect(order[0]).toBe(overview);
    const neighbours = (rel: string) =>
      order.map((route) =>
        matches(read(`${route}.html`), new RegExp(`<a class="[a-z]*" rel="${rel}" href="([^"]*)"`, 'g')),
      );
    const heads = (rel: string) =>
      order.map((route) =>
        matches(read(`${route}.html`), new RegExp(`<link rel="${rel}" href="([^"]*)"`, 'g')),
      );
    expect(neighbours('next').flat()).toEqual(order.slice(1));
    for (const rel of ['prev', 'next']) expect(heads(rel)).toEqual(neighbours(rel));
    expect(neighbours('prev').flat()).toEqual(order.slice(0, -1));
  });
});
