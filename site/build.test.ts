import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSite } from './build.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-site-'));
const outDir = join(folder, 'dist');
const overview = '/docs/get-started/quickstarts/overview';
const customApp = '/docs/get-started/quickstarts/custom-app';

const read = (path: string) => readFileSync(join(outDir, path), 'utf8');
const pageFiles = () =>
  readdirSync(outDir, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'));
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');
const plain = (html: string) =>
  html.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#x27;', "'");

beforeAll(async () => {
  await buildSite({ outDir, publicUrl: 'https://yard.example' });
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('routes', () => {
  test('every page is a file at its address', () => {
    expect(pageFiles()).toEqual(
      expect.arrayContaining([
        'index.html',
        'docs.html',
        '404.html',
        'terms.html',
        'privacy.html',
        'status.html',
        'sign-up.html',
        `${overview.slice(1)}.html`,
        `${customApp.slice(1)}.html`,
      ]),
    );
  });

  test('/docs shows the first page', () => {
    expect(read('docs.html')).toBe(read(`${overview}.html`));
  });

  test.each([
    ['/docs/using-switchyard', '/docs/using-switchyard/setup/install'],
    ['/docs/using-switchyard/run', '/docs/using-switchyard/run/methodology'],
  ])('%s has no page of its own and shows the first below it', (folderAddress, first) => {
    expect(read(`${folderAddress}.html`)).toBe(read(`${first}.html`));
  });

  test('every link and file a page names exists', () => {
    const missing = pageFiles().flatMap((path) => {
      const html = read(path);
      return matches(html, /\s(?:href|src)="([^"]*)"/g)
        .map((address) => plain(address).split('#')[0] ?? '')
        .filter((address) => address.startsWith('/') && !/^\/(healthz|readyz|openapi\/.*)?$/.test(address))
        .filter(
          (address) => !existsSync(join(outDir, address)) && !existsSync(join(outDir, `${address}.html`)),
        )
        .map((address) => `${path}: ${address}`);
    });
    expect(missing).toEqual([]);
  });

  test('the sitemap lists every page but the one for unknown addresses', () => {
    const addresses = matches(read('sitemap.xml'), /<loc>([^<]*)<\/loc>/g);
    expect(addresses).toEqual(
      expect.arrayContaining([
        'https://yard.example/',
        `https://yard.example${overview}`,
        'https://yard.example/terms',
      ]),
    );
    expect(addresses).not.toContain('https://yard.example/404');
    expect(new Set(addresses).size).toBe(addresses.length);
  });
});

describe('files that programs ask for', () => {
  test('robots are told where the sitemap is, and which addresses are not for them', () => {
    expect(read('robots.txt')).toBe(
      'User-agent: *\nDisallow: /v1/\nDisallow: /search\n\nSitemap: https://yard.example/sitemap.xml\n',
    );
  });

  test('the icon has three sizes', () => {
    const icon = readFileSync(join(outDir, 'favicon.ico'));
    expect([icon.readUInt16LE(2), icon.readUInt16LE(4)]).toEqual([1, 3]);
  });

  test('the head of every page names the feed of releases', () => {
    for (const path of pageFiles())
      expect(read(path), path).toContain(
        '<link rel="alternate" type="application/atom+xml" href="/releases.atom"/>',
      );
  });

  test('pages that say nothing by themselves are in no list', () => {
    for (const list of ['sitemap.xml', 'llms.txt']) expect(read(list)).not.toMatch(/\/(404|search)[<.)]/);
  });
});

describe('the order of pages', () => {
  test('next and previous join all pages into one line', () => {
    const order = matches(read('llms.txt'), /\]\(([^)]*)\.md\)/g);
    expect(order[0]).toBe(overview);
    const neighbours = (rel: string) =>
      order.map((route) =>
        matches(read(`${route}.html`), new RegExp(`<a class="[a-z]*" rel="${rel}" href="([^"]*)"`, 'g')),
      );
    expect(neighbours('next').flat()).toEqual(order.slice(1));
    expect(neighbours('prev').flat()).toEqual(order.slice(0, -1));
  });
});

describe('page data', () => {
  test('the contents list names every heading of the page in its order', () => {
    for (const route of [overview, customApp]) {
      const html = read(`${route}.html`);
      const headings = matches(html, /<h[23] id="([^"]*)"/g);
      const list = html.slice(html.indexOf('aria-label="On this page"'));
      expect(headings.length).toBeGreaterThan(3);
      expect(matches(list, /<a class="stop" href="#([^"]*)"/g)).toEqual(headings);
    }
  });

  test('the date is shown as month, day and year', () => {
    expect(read(`${overview}.html`)).toMatch(
      /Last updated <time dateTime="\d{4}-\d\d-\d\dT[^"]*">[A-Z][a-z]+ \d{1,2}, \d{4}<\/time>/,
    );
  });

  test('every page has a Markdown twin without our own tags', () => {
    for (const route of [overview, customApp, '/terms']) {
      const markdown = read(`${route}.md`);
      expect(markdown).toMatch(/^# .+\n\n.+/);
      expect(markdown).not.toMatch(/\{%|%\}/);
    }
    const markdown = read(`${customApp}.md`);
    expect(markdown).toContain('**Python:**\n\n`van-loading/main.py`:\n\n```python\nimport argparse');
    expect(markdown).toContain('curl -sS --fail-with-body --upload-file van-loading.tar.gz "$UPLOAD_URL"');
  });
});

describe('every document', () => {
  test('is well formed: one h1, the landmarks, unique ids, a title and a description', () => {
    for (const path of pageFiles()) {
      const html = read(path);
      expect(html, path).toMatch(/^<!doctype html><html lang="en">/);
      expect(html.match(/<h1/g), path).toHaveLength(1);
      for (const landmark of [/<header/g, /<main id="main"/g, /<footer/g])
        expect(html.match(landmark), path).toHaveLength(1);
      const ids = matches(html, /\sid="([^"]*)"/g);
      expect(ids.length, path).toBe(new Set(ids).size);
      expect(html, path).toMatch(/<title>[^<]{5,}<\/title><meta name="description" content="[^"]{20,}"/);
      expect(html, path).toContain('<a class="skip-link" href="#main">');
      expect(matches(html, /<img(?![^>]*\salt=)([^>]*)>/g), path).toEqual([]);
    }
  });

  test('needs no exception from a strict content security policy', () => {
    const policy: { scripts: string[]; styles: string[] } = JSON.parse(read('csp.json'));
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    for (const path of pageFiles()) {
      const html = read(path);
      const scripts = matches(html, /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g).map(hash);
      const styles = matches(html, /<style[^>]*>([\s\S]*?)<\/style>/g).map(hash);
      expect(scripts.length, path).toBeGreaterThan(0);
      expect(policy.scripts, path).toEqual(expect.arrayContaining(scripts));
      expect(policy.styles, path).toEqual(expect.arrayContaining(styles));
      const body = html.replace(/<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>/g, '');
      expect(matches(body, /(<[^>]*\s(?:style|on[a-z]+)=)/g), path).toEqual([]);
      expect(body, path).not.toContain('javascript:');
    }
  });

  test('is at most 15 kB compressed', () => {
    const heavy = pageFiles().filter((path) => statSync(join(outDir, `${path}.br`)).size > 15_000);
    expect(heavy).toEqual([]);
  });
});

describe('compressed copies', () => {
  test('of every page hold the page', () => {
    for (const path of pageFiles()) {
      const page = read(path);
      expect(brotliDecompressSync(readFileSync(join(outDir, `${path}.br`))).toString(), path).toBe(page);
      expect(gunzipSync(readFileSync(join(outDir, `${path}.gz`))).toString(), path).toBe(page);
    }
  });

  test('are smaller than what they are copies of', () => {
    const copies = readdirSync(outDir, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.(br|gz)$/.test(path),
    );
    expect(copies.length).toBeGreaterThan(2 * pageFiles().length);
    for (const copy of copies)
      expect(statSync(join(outDir, copy)).size, copy).toBeLessThan(
        statSync(join(outDir, copy.slice(0, -3))).size,
      );
  });
});

describe('building again', () => {
  test('does nothing when nothing has changed', async () => {
    writeFileSync(join(outDir, 'witness'), '');
    const again = await buildSite({ outDir, publicUrl: 'https://yard.example' });
    expect(again).toMatchObject({ built: false, pages: expect.any(Number) });
    expect(existsSync(join(outDir, 'witness'))).toBe(true);
  });

  test('replaces the folder when an option has changed', async () => {
    writeFileSync(join(outDir, 'witness'), '');
    const again = await buildSite({ outDir, publicUrl: 'https://other.example' });
    expect(again.built).toBe(true);
    expect(existsSync(join(outDir, 'witness'))).toBe(false);
    expect(read('sitemap.xml')).toContain('https://other.example/terms');
  }, 180_000);
});
