import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ContentError } from './build/problems.ts';
import { readSite, type Site } from './build/read-site.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-content-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const head = (fields = '') =>
  `---\ntitle: A page\nintro: What this page is about, in one line.\nlabel: Page\nnavOrder: 10\n${fields}---\n\n`;
const bodyLine = 8;

function readFiles(files: Record<string, string | Buffer>): Promise<Site> {
  mkdirSync(join(folder, 'pages'), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, 'content', path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  return readSite({
    content: { folder: join(folder, 'content'), name: 'content' },
    pages: { folder: join(folder, 'pages'), name: 'pages' },
    repository: folder,
  });
}

async function mistakes(files: Record<string, string | Buffer>): Promise<string[]> {
  try {
    await readFiles(files);
    return [];
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return error.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  }
}

/** Each case is one page; the mistake must be reported once, with its line and with the words. */
const cases: { name: string; page: string; line: number; says: string }[] = [
  {
    name: 'an unknown tag',
    page: `${head()}Text.\n\n{% nonsense /%}\n`,
    line: bodyLine + 2,
    says: "Undefined tag: 'nonsense'",
  },
  {
    name: 'a bad attribute',
    page: `${head()}{% hint kind="x" %}\nText.\n{% /hint %}\n`,
    line: bodyLine,
    says: "Invalid attribute: 'kind'",
  },
  {
    name: 'a value that is not allowed',
    page: `${head()}{% hint type="shout" %}\nText.\n{% /hint %}\n`,
    line: bodyLine,
    says: "Got 'shout' instead.",
  },
  { name: 'a tag that is not closed', page: `${head()}{% hint %}\nText.\n`, line: bodyLine, says: 'closing' },
  {
    name: 'a link to no page',
    page: `${head()}Text.\n\nSee [that](/docs/that).\n`,
    line: bodyLine + 2,
    says: 'there is no such page',
  },
  {
    name: 'a link to no anchor',
    page: `${head()}## One\n\n[two](#two)\n`,
    line: bodyLine + 2,
    says: 'it has one',
  },
  {
    name: 'a relative link',
    page: `${head()}[that](../that)\n`,
    line: bodyLine,
    says: 'neither an address from the root',
  },
  {
    name: 'a missing picture',
    page: `${head()}{% image src="no.png" alt="None" /%}\n`,
    line: bodyLine,
    says: '"no.png" does not exist',
  },
  {
    name: 'a picture without words for it',
    page: `${head()}{% image src="no.png" /%}\n`,
    line: bodyLine,
    says: "Missing required attribute: 'alt'",
  },
  {
    name: 'a code block without a language',
    page: `${head()}\`\`\`\nx\n\`\`\`\n`,
    line: bodyLine,
    says: 'names the language ""',
  },
  {
    name: 'a code block in an unknown language',
    page: `${head()}\`\`\`cobol\nx\n\`\`\`\n`,
    line: bodyLine,
    says: '"cobol"',
  },
  {
    name: 'an expectation on what is not run',
    page: `${head()}\`\`\`json {% expect="x" %}\n{}\n\`\`\`\n`,
    line: bodyLine,
    says: 'Only a bash block',
  },
  {
    name: 'output in another language than text',
    page: `${head()}\`\`\`json {% output=true %}\n{}\n\`\`\`\n`,
    line: bodyLine,
    says: 'A code block with "output" is text',
  },
  { name: 'a heading of level 1', page: `${head()}# One\n`, line: bodyLine, says: 'only the title has' },
  {
    name: 'a heading that skips a level',
    page: `${head()}### One\n`,
    line: bodyLine,
    says: 'follows no heading of level 2',
  },
  {
    name: 'an anchor used twice',
    page: `${head()}## One\n\n## One\n`,
    line: bodyLine + 2,
    says: 'is on this page already',
  },
  {
    name: 'one tab alone',
    page: `${head()}{% tabs group="a" %}\n{% tab label="A" %}\nText.\n{% /tab %}\n{% /tabs %}\n`,
    line: bodyLine,
    says: 'two or more',
  },
  {
    name: 'an API that is none',
    page: `${head()}## One\n\n{% swagger spec="clod" tag="runs" /%}\n`,
    line: bodyLine + 2,
    says: 'The API "clod" is not known; a swagger tag names one of cloud, marketplace.',
  },
  {
    name: 'an operation that its path lacks',
    page: `${head()}## One\n\n{% swagger spec="cloud" method="patch" path="/v1/account" /%}\n`,
    line: bodyLine + 2,
    says: 'has no operation "patch /v1/account"; the path has get, put.',
  },
  {
    name: 'an operation of a path that is none',
    page: `${head()}## One\n\n{% swagger spec="marketplace" method="get" path="/v1/nothing" /%}\n`,
    line: bodyLine + 2,
    says: 'it has no such path',
  },
  {
    name: 'a tag of the API that is none',
    page: `${head()}{% swagger spec="cloud" tag="ruins" level=2 /%}\n`,
    line: bodyLine,
    says: 'no operation with the tag "ruins"; its tags are account',
  },
  {
    name: 'an operation named twice over',
    page: `${head()}{% swagger spec="cloud" tag="service" method="get" level=2 /%}\n`,
    line: bodyLine,
    says: 'has either "tag", or "method" and "path"',
  },
  {
    name: 'an operation named by half',
    page: `${head()}{% swagger spec="cloud" method="get" level=2 /%}\n`,
    line: bodyLine,
    says: 'needs "method" and "path"',
  },
  {
    name: 'an operation that is on the page already',
    page: `${head()}{% swagger spec="cloud" method="get" path="/healthz" level=2 /%}\n\n{% swagger spec="cloud" method="GET" path="/healthz" level=2 /%}\n`,
    line: bodyLine + 2,
    says: 'is on this page already',
  },
  {
    name: 'an operation of level 3 without one of level 2',
    page: `${head()}{% swagger spec="cloud" method="get" path="/healthz" /%}\n`,
    line: bodyLine,
    says: 'write level=2',
  },
  {
    name: 'an operation of level 4',
    page: `${head()}{% swagger spec="cloud" method="get" path="/healthz" level=4 /%}\n`,
    line: bodyLine,
    says: 'write 2 or 3',
  },
  {
    name: 'no intro',
    page: '---\ntitle: A page\nlabel: Page\nnavOrder: 10\n---\n',
    line: 2,
    says: 'lacks "intro"',
  },
  {
    name: 'an intro too short',
    page: head().replace('What this page is about, in one line.', 'Short.'),
    line: 3,
    says: 'must have 20 to 240 characters and has 6',
  },
  {
    name: 'a field that is none',
    page: head('color: red\n'),
    line: 6,
    says: '"color", which is not a field',
  },
  {
    name: 'a navOrder that is no number',
    page: head().replace('10', 'first'),
    line: 5,
    says: 'must be a whole number',
  },
  { name: 'front matter that is not YAML', page: '---\ntitle: [\n---\n', line: 2, says: 'not valid YAML' },
];

describe('a mistake in a page is reported with its file and line', () => {
  test.for(cases)('$name', async ({ page, line, says }) => {
    const found = await mistakes({ 'page.md': page });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`content/page.md:${line}: `);
    expect(found[0]).toContain(says);
  });
});

describe('mistakes between files', () => {
  test('two entries of a folder with one navOrder', async () => {
    expect(await mistakes({ 'a.md': head(), 'b.md': head() })).toEqual([
      expect.stringMatching(/^content\/b\.md:1: The navOrder 10 is also that of content\/a\.md/),
    ]);
  });

  test('a folder without a name', async () => {
    expect(await mistakes({ 'deep/a.md': head() })).toEqual([
      expect.stringContaining('neither this file nor a page "deep.md" names it'),
    ]);
  });

  test('a name that is no part of an address', async () => {
    expect(await mistakes({ 'Big_Page.md': head() })).toEqual([expect.stringContaining('"Big_Page"')]);
  });

  test('a drawing that holds a script', async () => {
    const svg = '<svg viewBox="0 0 1 1"><script>alert(1)</script></svg>';
    expect(await mistakes({ 'a.md': `${head()}{% image src="a.svg" alt="A" /%}\n`, 'a.svg': svg })).toEqual([
      expect.stringContaining(`content/a.md:${bodyLine}: The picture "a.svg" holds a script`),
    ]);
  });

  test('code from a file that is not there, or lacks the line', async () => {
    const page = (attributes: string) => `${head()}{% code-reference ${attributes} /%}\n`;
    const one = async (attributes: string) =>
      (await mistakes({ 'a.md': page(attributes), 'a.js': 'x();\n' })).join();
    expect(await one('file="content/b.js"')).toMatch(
      /^content\/a\.md:8: The code "content\/b\.js" is not a file/,
    );
    expect(await one('file="../outside.js"')).toMatch(
      /^content\/a\.md:8: The code "\.\.\/outside\.js" is not a file/,
    );
    expect(await one('file="content/a.js" from="y()"')).toMatch(
      /^content\/a\.md:8: .* no line of it holds "y\(\)"/,
    );
  });

  test('all of them at once, in the order of files and lines', async () => {
    const found = await mistakes({ 'b.md': `${head()}[x](/docs/x)\n`, 'a.md': `${head('bad: 1\n')}# One\n` });
    expect(found.map((line) => line.split(': ')[0])).toEqual([
      'content/a.md:6',
      `content/a.md:${bodyLine + 1}`,
      `content/b.md:${bodyLine}`,
    ]);
  });
});

describe('content without mistakes', () => {
  test('gives the tree, the fixed order, sections and links out of the site', async () => {
    const numbered = (label: string, order: number) =>
      head().replace('Page', label).replace('10', String(order));
    const site = await readFiles({
      'start/folder.yaml': 'label: Start\nnavOrder: 1\n',
      'start/second.md': numbered('Second', 20),
      'start/first.md': numbered('First', 10),
      'tools.md': numbered('Tools', 2),
      'tools/cli.md': numbered('Command line', 1),
      'blog.md': '---\nlabel: Blog\nnavOrder: 3\nexternalUrl: https://example.org/blog\n---\n',
    });
    expect(
      site.docs.map(({ route, section, previous, next }) => [route, section, previous?.label, next?.label]),
    ).toEqual([
      ['/docs/start/first', ['Start'], undefined, 'Second'],
      ['/docs/start/second', ['Start'], 'First', 'Tools'],
      ['/docs/tools', [], 'Second', 'Command line'],
      ['/docs/tools/cli', ['Tools'], 'Tools', undefined],
    ]);
    expect(
      site.navigation.map(({ label, externalUrl, subpages }) => [label, externalUrl, subpages?.length]),
    ).toEqual([
      ['Start', undefined, 2],
      ['Tools', undefined, 1],
      ['Blog', 'https://example.org/blog', undefined],
    ]);
  });

  test('code from a file is shown in part, coloured, and named', async () => {
    const page = `${head()}{% code-reference file="content/app.py" from="def two" to="return" /%}\n`;
    const site = await readFiles({
      'a.md': page,
      'app.py': 'one = 1\n\ndef two():\n    return 2\n\nthree = 3\n',
    });
    expect(site.markdown.get('/docs/a')).toContain(
      'content/app.py:\n\n```python\ndef two():\n    return 2\n```',
    );
    expect(JSON.stringify(site.docs[0]?.body)).toContain('"language":"python","caption":"content/app.py"');
    expect(site.references).toEqual(['content/app.py']);
  });

  test('links may lead to operations of the API and to their fields', async () => {
    const page = `${head()}[a](#create-key) [b](#create-key.body.name)\n\n{% swagger spec="cloud" tag="account" level=2 /%}\n`;
    const site = await readFiles({ 'a.md': page });
    expect(site.docs[0]?.contents).toContainEqual({ id: 'create-key', text: 'Create a key', level: 2 });
    expect(site.markdown.get('/docs/a')).toContain('### Create a key\n\n`POST /v1/account/keys`, in full in');
    const wrong = (await mistakes({ 'a.md': page.replace('body.name', 'body.nam') })).join();
    expect(wrong).toContain('it has get-account, ');
    expect(wrong).not.toContain('create-key.body.name');
  });

  test('a file that git does not know is dated by the file itself', async () => {
    const site = await readFiles({ 'a.md': head() });
    expect(Date.now() - Date.parse(site.docs[0]?.lastUpdated.iso ?? '')).toBeLessThan(86_400_000);
  });

  test('a PNG is copied under the hash of its bytes and shown in its size', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000300000002', 'hex');
    const site = await readFiles({ 'a.md': `${head()}{% image src="a.png" alt="A" /%}\n`, 'a.png': png });
    const [[address, bytes] = ['', undefined]] = site.images;
    expect(address).toMatch(/^\/assets\/[0-9a-f]{12}\.png$/);
    expect(bytes).toEqual(png);
    expect(JSON.stringify(site.docs[0]?.body)).toContain(`"url":"${address}","width":3,"height":2,"alt":"A"`);
  });
});
