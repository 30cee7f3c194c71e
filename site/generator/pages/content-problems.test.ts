import { describe, expect, test } from 'vitest';
import {
  BODY_START_LINE,
  buildFrontMatter,
  listProblems,
  readContent,
} from '../../testing/temporary-content.ts';

describe('mistakes between files', () => {
  test('two entries of a folder with one navOrder', async () => {
    expect(await listProblems({ 'a.md': buildFrontMatter(), 'b.md': buildFrontMatter() })).toEqual([
      expect.stringMatching(/^content\/b\.md:1: The navOrder 10 is also that of content\/a\.md/),
    ]);
  });

  test('a folder without a name', async () => {
    expect(await listProblems({ 'deep/a.md': buildFrontMatter() })).toEqual([
      expect.stringContaining('neither this file nor a page "deep.md" names it'),
    ]);
  });

  test('a file name that is invalid in an address', async () => {
    expect(await listProblems({ 'Big_Page.md': buildFrontMatter() })).toEqual([
      expect.stringContaining('"Big_Page"'),
    ]);
  });

  test('a drawing with a script', async () => {
    const svg = '<svg viewBox="0 0 1 1"><script>alert(1)</script></svg>';
    expect(
      await listProblems({ 'a.md': `${buildFrontMatter()}{% image src="a.svg" alt="A" /%}\n`, 'a.svg': svg }),
    ).toEqual([
      expect.stringContaining(`content/a.md:${BODY_START_LINE}: The picture "a.svg" holds a script`),
    ]);
  });

  test('code from a missing file, or without the line', async () => {
    const page = (attributes: string) => `${buildFrontMatter()}{% code-reference ${attributes} /%}\n`;
    const one = async (attributes: string) =>
      (await listProblems({ 'a.md': page(attributes), 'a.js': 'x();\n' })).join();
    expect(await one('file="content/b.js"')).toMatch(
      /^content\/a\.md:7: The code "content\/b\.js" is not a file/,
    );
    expect(await one('file="../outside.js"')).toMatch(
      /^content\/a\.md:7: The code "\.\.\/outside\.js" is not a file/,
    );
    expect(await one('file="content/a.js" from="y()"')).toMatch(
      /^content\/a\.md:7: .* no line of it holds "y\(\)"/,
    );
  });

  test('of every kind on one page', async () => {
    const found = await listProblems({
      'a.md': `${buildFrontMatter()}{% nonsense /%}\n\n{% image src="no.png" alt="A" /%}\n\n{% swagger spec="cloud" tag="ruins" level=2 /%}\n\n[x](/docs/x)\n`,
    });
    expect(found.map((line) => line.split(': ')[0])).toEqual(
      [0, 2, 4, 6].map((line) => `content/a.md:${BODY_START_LINE + line}`),
    );
  });

  test('all are reported in the order of files and lines', async () => {
    const found = await listProblems({
      'b.md': `${buildFrontMatter()}[x](/docs/x)\n`,
      'a.md': `${buildFrontMatter('bad: 1\n')}# One\n`,
    });
    expect(found.map((line) => line.split(': ')[0])).toEqual([
      'content/a.md:5',
      `content/a.md:${BODY_START_LINE + 1}`,
      `content/b.md:${BODY_START_LINE}`,
    ]);
  });
});

describe('the tasks of the navigation', () => {
  const files = { 'a.md': buildFrontMatter(), 'b.md': buildFrontMatter().replaceAll('10', '20') };

  test('have every page, and only paths of pages and folders', async () => {
    const tasks = '- label: Start\n  groups:\n    - label: Pages\n      pages: [b, c]\n';
    expect(await listProblems({ ...files, 'tasks.yaml': tasks })).toEqual([
      'content/tasks.yaml:1: The task "Start" has "c", which is neither a page nor a folder.',
      'content/tasks.yaml:1: The page /docs/a is in no task; add its path to one.',
    ]);
  });

  test('order the pages, and take a page that they list out of its folder', async () => {
    const site = await readContent({
      ...files,
      'deep/folder.yaml': 'label: Deep\nnavOrder: 30\n',
      'deep/one.md': buildFrontMatter().replace('A page', 'One'),
      'deep/two.md': buildFrontMatter().replace('A page', 'Two').replaceAll('10', '20'),
      'tasks.yaml':
        '- label: Start\n  groups:\n    - label: First\n      pages: [b, deep/two]\n    - label: Last\n      pages: [deep, a]\n',
    });
    expect(site.docs.map(({ route }) => route)).toEqual([
      '/docs/b',
      '/docs/deep/two',
      '/docs/deep/one',
      '/docs/a',
    ]);
    expect(site.docs[2]?.section).toEqual([
      { route: '/docs/b', label: 'Start' },
      { route: '/docs/deep/one', label: 'Last' },
    ]);
  });
});

describe('content without mistakes', () => {
  test('gives the tree, the fixed order, sections and links out of the site', async () => {
    const numbered = (label: string, order: number) =>
      buildFrontMatter().replace('A page', label).replace('10', String(order));
    const site = await readContent({
      'start/folder.yaml': 'label: Start\nnavOrder: 1\n',
      'start/second.md': numbered('Second', 20),
      'start/first.md': numbered('First', 10),
      'tools.md': numbered('Tools', 2),
      'tools/cli.md': numbered('Command line', 1),
      'blog.md': '---\nlabel: Blog\nnavOrder: 3\nexternalUrl: https://example.org/blog\n---\n',
    });
    const start = [{ route: '/docs/start/first', label: 'Start' }];
    expect(
      site.docs.map(({ route, section, previous, next }) => [route, section, previous?.label, next?.label]),
    ).toEqual([
      ['/docs/start/first', start, undefined, 'Second'],
      ['/docs/start/second', start, 'First', 'Tools'],
      ['/docs/tools', [], 'Second', 'Command line'],
      ['/docs/tools/cli', [{ route: '/docs/tools', label: 'Tools' }], 'Tools', undefined],
    ]);
    expect(
      site.navigation.map(({ label, externalUrl, subpages }) => [label, externalUrl, subpages?.length]),
    ).toEqual([
      ['Start', undefined, 2],
      ['Tools', undefined, 1],
      ['Blog', 'https://example.org/blog', undefined],
    ]);
  });

  test('part of a file becomes a coloured code block with its name', async () => {
    const page = `${buildFrontMatter()}{% code-reference file="content/app.py" from="def two" to="return" /%}\n`;
    const site = await readContent({
      'a.md': page,
      'app.py': 'one = 1\n\ndef two():\n    return 2\n\nthree = 3\n',
    });
    expect(site.markdown.get('/docs/a')).toContain(
      'content/app.py:\n\n```python\ndef two():\n    return 2\n```',
    );
    expect(JSON.stringify(site.docs[0]?.body)).toContain('"language":"python","caption":"content/app.py"');
    expect(site.references).toEqual(['content/app.py']);
  });

  test('links to operations of the API and their fields are valid', async () => {
    const page = `${buildFrontMatter()}[a](#create-key) [b](#create-key.body.name)\n\n{% swagger spec="cloud" tag="account" level=2 /%}\n`;
    const site = await readContent({ 'a.md': page });
    expect(site.docs[0]?.contents).toContainEqual({
      ...{ id: 'create-key', text: 'Create a key', level: 2 },
      method: 'POST',
    });
    expect(site.markdown.get('/docs/a')).toContain('### Create a key\n\n`POST /v1/account/keys`, in full in');
    const wrong = (await listProblems({ 'a.md': page.replace('body.name', 'body.nam') })).join();
    expect(wrong).toContain('it has get-account, ');
    expect(wrong).not.toContain('create-key.body.name');
  });

  test('a PNG is copied under the hash of its bytes and has its size', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000300000002', 'hex');
    const site = await readContent({
      'a.md': `${buildFrontMatter()}{% image src="a.png" alt="A" /%}\n`,
      'a.png': png,
    });
    const [[address, bytes] = ['', undefined]] = site.images;
    expect(address).toMatch(/^\/assets\/[0-9a-f]{12}\.png$/);
    expect(bytes).toEqual(png);
    expect(JSON.stringify(site.docs[0]?.body)).toContain(`"url":"${address}","width":3,"height":2,"alt":"A"`);
  });
});
