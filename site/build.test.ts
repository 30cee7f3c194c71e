import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BuildResult, buildSite } from './build.ts';
import { builtSiteFolder, listPageFiles } from './testing/built-site.ts';
import { BODY_START_LINE, buildFrontMatter } from './testing/temporary-content.ts';

const overview = '/docs/get-started/quickstarts/overview';
const customApp = '/docs/get-started/quickstarts/custom-app';

const read = (path: string) => readFileSync(join(builtSiteFolder, path), 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? '');
const plain = (html: string) =>
  html.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#x27;', "'");

describe('routes', () => {
  test('every page is a file at its address', () => {
    expect(listPageFiles()).toEqual(
      expect.arrayContaining([
        'index.html',
        'docs.html',
        '404.html',
        'error.html',
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

  test('a block that sets SWITCHYARD_URL links to the installation of the clients', () => {
    const countOn = (path: string) =>
      matches(read(path), /(<figcaption><a href="\/docs\/get-started\/quickstarts\/overview#call-the-api">)/g)
        .length;
    expect(countOn('docs/using-switchyard/run/replay.html')).toBe(1);
    expect(countOn('docs/using-switchyard/experiments/statistics.html')).toBe(0);
  });

  test('every link and file of a page exists', () => {
    const missing = listPageFiles().flatMap((path) => {
      const html = read(path);
      return matches(html, /\s(?:href|src)="([^"]*)"/g)
        .map((address) => plain(address).split('#')[0] ?? '')
        .filter(
          (address) => address.startsWith('/') && !/^\/(healthz|readyz|console|openapi\/.*)?$/.test(address),
        )
        .filter((address) => !['', '.html'].some((end) => existsSync(join(builtSiteFolder, address + end))))
        .map((address) => `${path}: ${address}`);
    });
    expect(missing).toEqual([]);
  });

  test('the sitemap lists every page once, by its canonical address', () => {
    const addresses = matches(read('sitemap.xml'), /<loc>http:\/\/127\.0\.0\.1:8080([^<]*)<\/loc>/g);
    const canonical = listPageFiles().flatMap((path) =>
      matches(read(path), /<link rel="canonical" href="([^"]*)"/g),
    );
    expect(addresses).toEqual(expect.arrayContaining(['/', overview, '/terms']));
    expect(addresses.toSorted()).toEqual([...new Set(canonical)].toSorted());
    for (const address of addresses) {
      const html = read(`${address === '/' ? '/index' : address}.html`);
      expect(html, address).toContain(`<link rel="canonical" href="${address}"/>`);
    }
  });

  test.each([
    ['title', /<title>([^<]*)/g],
    ['description', /<meta name="description" content="([^"]*)"/g],
  ])('no two pages have the same %s', (_, pattern) => {
    const seen = new Map<string, string>();
    for (const path of listPageFiles()) {
      const html = read(path);
      const [text = ''] = matches(html, pattern);
      const [route = path] = matches(html, /<link rel="canonical" href="([^"]*)"/g);
      expect(seen.get(text) ?? route, text).toBe(route);
      seen.set(text, route);
    }
  });

  test('the documentation has between 80 and 180 pages', () => {
    const pages = matches(read('sitemap.xml'), /<loc>http:\/\/127\.0\.0\.1:8080(\/docs\/[^<]*)<\/loc>/g);
    expect(pages.length).toBeGreaterThanOrEqual(80);
    expect(pages.length).toBeLessThanOrEqual(180);
  });
});

describe('files for programs', () => {
  test('robots.txt names the sitemap and the excluded addresses', () => {
    expect(read('robots.txt')).toBe(
      'User-agent: *\nDisallow: /v1/\nDisallow: /search\n\nSitemap: http://127.0.0.1:8080/sitemap.xml\n',
    );
  });

  test('the icon has three sizes', () => {
    const icon = readFileSync(join(builtSiteFolder, 'favicon.ico'));
    expect([icon.readUInt16LE(2), icon.readUInt16LE(4)]).toEqual([1, 3]);
  });

  test('the head of every page names the feed of releases', () => {
    for (const path of listPageFiles())
      expect(read(path), path).toContain(
        '<link rel="alternate" type="application/atom+xml" href="/releases.atom"/>',
      );
  });

  test('the whole text is the Markdown of every page of the documentation, in their order', () => {
    const whole = read('llms-full.txt');
    const routes = matches(whole, /^<!-- (\S+) -->$/gm);
    expect(routes).toEqual(matches(read('llms.txt'), /\]\((?:http:\/\/[^/]*)?(\/[^)]*)\.md\)/g));
    expect(whole).toBe(routes.map((route) => `<!-- ${route} -->\n\n${read(`${route}.md`)}`).join('\n'));
  });

  test('pages without content of their own are in no list and have noindex', () => {
    for (const list of ['sitemap.xml', 'llms.txt'])
      expect(read(list)).not.toMatch(/\/(404|error|search)[<.)]/);
    for (const path of listPageFiles()) {
      const unlisted = ['404.html', 'error.html', 'search.html'].includes(path);
      expect(read(path).includes('<meta name="robots" content="noindex"/>'), path).toBe(unlisted);
      expect(read(path).includes('<link rel="canonical"'), path).toBe(!unlisted);
    }
  });

  test('llms.txt has a title, a summary and lists under headings, as llmstxt.org requires', () => {
    const [title, , summary, ...rest] = read('llms.txt').trimEnd().split('\n');
    expect([title, summary]).toEqual(['# Switchyard', expect.stringMatching(/^> .{20,}/)]);
    for (const line of rest)
      expect(line).toMatch(/^(## .+|- \[.+\]\(http:\/\/127\.0\.0\.1:8080\/docs\/.+\.md\): .+|)$/);
    expect(rest.filter((line) => line.startsWith('## '))).toHaveLength(6);
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

  test('the date has month, day and year', () => {
    expect(read(`${overview}.html`)).toMatch(
      /Last updated <time dateTime="\d{4}-\d\d-\d\dT[^"]*">[A-Z][a-z]+ \d{1,2}, \d{4}<\/time>/,
    );
  });

  test('every page has a Markdown form without tags of Markdoc', () => {
    for (const route of [overview, customApp, '/terms']) {
      const markdown = read(`${route}.md`);
      expect(markdown).toMatch(/^# .+\n\n.+/);
      expect(markdown).not.toMatch(/\{%|%\}/);
    }
    expect(read(`${overview}.md`)).toMatch(/\n\*Picture: .+\*\n\nTwo ways to a run: /);
    expect(read(`${overview}.md`)).toContain(
      '\n\n[Install the command line or the Python client](/docs/get-started/quickstarts/overview#call-the-api)\n\n```bash\nexport SWITCHYARD_URL=',
    );
    expect(read('docs/releases/latest.md')).toMatch(/\n## 0\.2\.0 .+\n\n[A-Z][a-z]+ \d{1,2}, \d{4}\n/);
    const markdown = read(`${customApp}.md`);
    expect(markdown).toContain('**Python:**\n\n`van-loading/main.py`:\n\n```python\nimport argparse');
    expect(markdown).toContain('curl -sS --fail-with-body --upload-file van-loading.tar.gz');
  });
});

describe('every Markdown form', () => {
  test('starts with the title of its page, and its links exist', () => {
    const unescaped = (text: string) => plain(text).replaceAll('&lt;', '<').replaceAll('&gt;', '>');
    const readIds = (route: string) => new Set(matches(read(`${route}.html`), /\sid="([^"]*)"/g));
    for (const route of matches(read('sitemap.xml'), /<loc>http:\/\/127\.0\.0\.1:8080(\/[^<]+)</g)) {
      const markdown = read(`${route}.md`);
      const html = read(`${route}.html`);
      expect(html, route).toContain(`<link rel="alternate" type="text/markdown" href="${route}.md"/>`);
      const [intro = ''] = matches(html, /<meta name="description" content="([^"]*)"/g);
      const [title = ''] = matches(html, /<meta property="og:title" content="([^"]*?) · /g);
      expect(markdown.startsWith(`# ${unescaped(title)}\n\n${unescaped(intro)}\n`), route).toBe(true);
      for (const link of matches(markdown.replace(/^```[\s\S]*?^```/gm, ''), /\]\(([/#][^)\s]*)\)/g)) {
        const [address = '', anchor] = link.split('#');
        const target = address === '' ? route : address;
        if (!existsSync(join(builtSiteFolder, `${target}.html`))) continue;
        if (anchor !== undefined) expect(readIds(target).has(anchor), `${route}: ${link}`).toBe(true);
      }
    }
  });
});

describe('every document', () => {
  test('is well formed: one h1, the landmarks, unique ids, a title and a description', () => {
    for (const path of listPageFiles()) {
      const html = read(path);
      expect(html, path).toMatch(/^<!doctype html><html lang="en">/);
      expect(html.match(/<h1/g), path).toHaveLength(1);
      for (const landmark of [/<header/g, /<main id="main"/g, /<footer/g])
        expect(html.match(landmark), path).toHaveLength(1);
      const ids = matches(html, /\sid="([^"]*)"/g);
      expect(ids.length, path).toBe(new Set(ids).size);
      expect(html, path).toMatch(/<title>[^<]{5,}<\/title><meta name="description" content="[^"]{20,}"/);
      const [title = '-'] = matches(html, /<title>([^<]*)/g);
      const [description = '-'] = matches(html, /<meta name="description" content="([^"]*)"/g);
      expect(matches(html, /<meta property="og:title" content="([^"]*)"/g).map(plain), path).toEqual([
        plain(title),
      ]);
      expect(matches(html, /<meta property="og:description" content="([^"]*)"/g), path).toEqual([
        description,
      ]);
      expect(html, path).toContain('<a class="skip-link" href="#main">');
      expect(matches(html, /<img(?![^>]*\salt=)([^>]*)>/g), path).toEqual([]);
    }
  });

  test('needs no exception from a strict content security policy', () => {
    const policy: { scripts: string[]; styles: string[] } = JSON.parse(read('csp.json'));
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    for (const path of listPageFiles()) {
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

  test('names the font of Greek letters if it has one', () => {
    for (const path of listPageFiles()) {
      const html = read(path);
      if (/[\u0370-\u03ff]/.test(html)) expect(html, path).toContain('/assets/inter-greek');
    }
  });

  test('has every style that its elements use', () => {
    const pages = listPageFiles().map((path) => {
      const html = read(path);
      const sheets = matches(html, /<style>([\s\S]*?)<\/style>/g);
      const classes = matches(html.replace(/<style>[\s\S]*?<\/style>/g, ''), /\sclass="([^"]*)"/g);
      return { path, sheets, classes: new Set(classes.flatMap((list) => list.split(' '))) };
    });
    // The home page has its own class names, which other pages use for other things.
    const isFonts = (sheet: string) => /^(@font-face\{[^}]*\})+$/.test(sheet);
    const all = new Set(pages.flatMap(({ path, sheets }) => (path === 'index.html' ? [] : sheets)));
    expect([...all].filter(isFonts).length).toBeLessThanOrEqual(1);
    expect(all.size).toBeGreaterThan(3);
    for (const sheet of [...all].filter((one) => !isFonts(one))) {
      const selectors = matches(sheet, /(?:^|[{},])([^{},@]*\.[a-z][^{},]*)(?=[,{])/g);
      expect(selectors.length).toBeGreaterThan(3);
      const needed = selectors.map((selector) => matches(selector, /\.([a-z][\w-]*)/g));
      for (const { path, sheets, classes } of pages)
        if (!sheets.includes(sheet))
          expect(
            needed.filter((names) => names.every((name) => classes.has(name))),
            path,
          ).toEqual([]);
    }
  });

  test('is at most 15 kB compressed, and 22.5 kB in the references of the API and of the commands', () => {
    const bytesMax = (path: string) => (/\/reference\/(api\/|cli\/commands)/.test(path) ? 22_500 : 15_000);
    const heavy = listPageFiles().flatMap((path) => {
      const { size } = statSync(join(builtSiteFolder, `${path}.br`));
      return size > bytesMax(path) ? [`${path}: ${size} bytes`] : [];
    });
    expect(heavy).toEqual([]);
  });

  test('is at most 80 kB compressed, with every script and style that it may ever load', () => {
    const compressed = (path: string) => {
      const smaller = join(builtSiteFolder, `${path}.br`);
      return statSync(existsSync(smaller) ? smaller : join(builtSiteFolder, path)).size;
    };
    const loaded = readdirSync(join(builtSiteFolder, 'assets')).filter((name) => /\.(js|css)$/.test(name));
    const islands = loaded.reduce((sum, name) => sum + compressed(`assets/${name}`), 0);
    expect(loaded.length).toBeGreaterThan(3);
    const heavy = listPageFiles().filter((path) => compressed(path) + islands > 80_000);
    expect(heavy).toEqual([]);
  });
});

describe('compressed copies', () => {
  test('of every page decompress to the page', () => {
    for (const path of listPageFiles()) {
      const page = read(path);
      const copy = (extension: string) => readFileSync(join(builtSiteFolder, `${path}.${extension}`));
      expect(brotliDecompressSync(copy('br')).toString(), path).toBe(page);
      expect(gunzipSync(copy('gz')).toString(), path).toBe(page);
    }
  });

  test('are smaller than their originals', () => {
    const copies = readdirSync(builtSiteFolder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.(br|gz)$/.test(path),
    );
    expect(copies.length).toBeGreaterThan(2 * listPageFiles().length);
    for (const copy of copies)
      expect(statSync(join(builtSiteFolder, copy)).size, copy).toBeLessThan(
        statSync(join(builtSiteFolder, copy.slice(0, -3))).size,
      );
  });
});

describe('building again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-site-'));
  const outDir = join(folder, 'dist');
  const witness = join(outDir, 'witness');
  let first: BuildResult;
  const build = (publicUrl: string) => buildSite({ outDir, contentRoot: folder, publicUrl });
  beforeAll(async () => {
    for (const part of ['content', 'pages']) mkdirSync(join(folder, part));
    const tags = ['spec="clod" tag="runs"', 'spec=" " tag="runs"', 'method="get" path="/healthz"'];
    const body = tags.map((attributes) => `{% swagger ${attributes} level=2 /%}\n\n`).join('');
    writeFileSync(join(folder, 'content/start.md'), `${buildFrontMatter()}${body}`);
    first = await build('https://yard.example');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('D6: an unknown API is a warning, and the page shows a message in its place', () => {
    expect(first.warnings).toEqual(
      ['"clod"', '" "', '""'].map((name, index) =>
        expect.stringMatching(
          `^content/start.md:${BODY_START_LINE + 2 * index}: A swagger tag has the spec ${name};`,
        ),
      ),
    );
    const page = readFileSync(join(outDir, 'docs/start.html'), 'utf8');
    const words = ['API specification not found.', 'No API specified.', 'No API specified.'];
    expect(matches(page, /<p class="api-message">([^<]*)<\/p>/g)).toEqual(words);
    const markdown = readFileSync(join(outDir, 'docs/start.md'), 'utf8');
    expect(markdown.trim().split('\n\n').slice(-3)).toEqual(words);
  });

  test('D6: the pages of this repository name known APIs', async () => {
    expect((await buildSite()).warnings).toEqual([]);
    for (const path of listPageFiles()) expect(read(path), path).not.toContain('class="api-message"');
  });

  test('does nothing when nothing has changed', async () => {
    writeFileSync(witness, '');
    const again = await build('https://yard.example');
    expect(again).toEqual({ ...first, wasBuilt: false });
    expect(existsSync(witness)).toBe(true);
  });

  test('replaces the folder when an option has changed', async () => {
    writeFileSync(witness, '');
    const again = await build('https://other.example');
    expect(again.wasBuilt).toBe(true);
    expect(existsSync(witness)).toBe(false);
    expect(readFileSync(join(outDir, 'sitemap.xml'), 'utf8')).toContain('https://other.example/docs/start');
  });
});
