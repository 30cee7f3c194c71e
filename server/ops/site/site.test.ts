import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-built-site-'));
const page = (title: string) =>
  `<!doctype html><title>${title}</title><body data-banner="/banner.json" data-search="/search/v1docs">${'<p>words</p>'.repeat(200)}`;
let server: TestServer;

function write(name: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}

beforeAll(async () => {
  const pages = {
    'index.html': 'Home',
    'docs.html': 'Docs',
    'docs/a/b.html': 'Deep',
    '404.html': 'Nothing',
    'error.html': 'Trouble',
  };
  for (const [name, title] of Object.entries(pages)) {
    write(name, page(title));
    write(`${name}.br`, brotliCompressSync(page(title)));
    write(`${name}.gz`, gzipSync(page(title)));
  }
  write('docs/a/b.md', '# Deep\n');
  write('assets/main-abc.js', 'export {};\n');
  write('csp.json', JSON.stringify({ scripts: ["'sha256-s'"], styles: ["'sha256-t'"] }));
  write('input-hash.txt', 'private');
  write('favicon.ico', Buffer.from([0, 0, 1, 0]));
  write('robots.txt', 'Sitemap: http://127.0.0.1:8080/sitemap.xml');
  write('releases.atom', '<feed/>');
  write('sitemap.xml', '<urlset><url><loc>http://127.0.0.1:8080/docs/a/b</loc></url></urlset>');
  server = await startTestServer({ site: folder });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Returns the response as sent; fetch would decompress it and follow redirects. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('a page', () => {
  test.each([
    ['/', 'Home'],
    ['/docs', 'Docs'],
    ['/docs/a/b', 'Deep'],
    ['/docs/a/b?from=mail', 'Deep'],
  ])('%s is served, also next to a folder of the same name', async (path, title) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toContain("script-src 'self' 'sha256-s'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cache-control']).toBe('no-cache');
    expect(body.toString()).toBe(page(title));
  });

  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.0', undefined],
    ['identity', undefined],
  ])('for a client that accepts "%s" has the encoding %s', async (accepted, encoding) => {
    const { headers, body } = await get('/docs', { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toBe('accept-encoding');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-length']).toBe(String(body.length));
    const text = encoding === 'br' ? brotliDecompressSync(body) : encoding ? gunzipSync(body) : body;
    expect(text.toString()).toBe(page('Docs'));
  });

  test.each([
    ['text/markdown', 'markdown'],
    ['text/markdown, text/html;q=0.9, */*;q=0.8', 'markdown'],
    ['text/markdown;q=0.5, text/html;q=0.5', 'markdown'],
    ['text/html, text/markdown;q=0.9', 'html'],
    ['text/markdown;q=0', 'html'],
    ['text/markdown;q=much', 'html'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'html'],
    ['*/*', 'html'],
    ['', 'html'],
  ])('for a client that accepts "%s" has the type %s', async (accept, kind) => {
    const { status, headers, body } = await get('/docs/a/b', { accept });
    expect([status, headers['content-type']]).toEqual([200, `text/${kind}; charset=utf-8`]);
    expect(headers.vary).toBe('accept, accept-encoding');
    expect(body.toString()).toBe(kind === 'html' ? page('Deep') : '# Deep\n');
    // A page without Markdown is HTML for every client.
    expect((await get('/docs', { accept })).headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test('returns 304 to a client that has it', async () => {
    const { headers } = await get('/docs');
    const again = await get('/docs', { 'if-none-match': String(headers.etag) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    const compressed = await get('/docs', { 'if-none-match': String(headers.etag), 'accept-encoding': 'br' });
    expect(compressed.status).toBe(200);
  });

  test('responds to HEAD with the headers of GET', async () => {
    const { status, headers, body } = await get('/docs/a/b', {}, 'HEAD');
    expect([status, body.length]).toEqual([200, 0]);
    expect(headers['content-length']).toBe(String(page('Deep').length));
  });

  test.each([
    ['/docs/', '/docs'],
    ['/docs/a/b/?x=1', '/docs/a/b?x=1'],
    ['/docs/a/b.html', '/docs/a/b'],
  ])('%s redirects to %s', async (path, target) => {
    const { status, headers } = await get(path);
    expect([status, headers.location]).toEqual([308, target]);
  });
});

describe('B7: the address of the server', () => {
  const url = 'https://ops.example/a&b';
  const html = (address: string) =>
    `<body data-server="${address}"><p>http://127.0.0.1:8080 by default</p><pre tabindex="0"><code>curl <b>${address}/v1</b></code></pre>`;
  const markdown = (address: string) =>
    `It is http://127.0.0.1:8080.\n\n- Call it:\n  \`\`\`bash\n  curl ${address}/v1\n  \`\`\`\n\nOr http://127.0.0.1:8080.\n`;
  const built = 'http://127.0.0.1:8080';

  test('replaces the built address in the code of pages and Markdown only, compressed or not', async () => {
    const expected = {
      '/docs/call': html('https://ops.example/a&amp;b'),
      '/docs/call.md': markdown(url),
      '/llms-full.txt': markdown(url),
      '/assets/call.js': `fetch("${built}")`,
    };
    const other = mkdtempSync(join(tmpdir(), 'switchyard-addressed-'));
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(other, name)), { recursive: true });
      writeFileSync(join(other, name), text);
      writeFileSync(join(other, `${name}.br`), brotliCompressSync(text));
    };
    for (const name of ['404.html', 'error.html', 'docs/call.html']) put(name, html(built));
    for (const name of ['docs/call.md', 'llms-full.txt']) put(name, markdown(built));
    put('assets/call.js', `fetch("${built}")`);
    put('csp.json', JSON.stringify({ scripts: [], styles: [] }));
    await using named = await startTestServer({ site: other, env: { SWITCHYARD_PUBLIC_URL: url } });
    rmSync(other, { recursive: true });
    for (const [path, text] of Object.entries(expected)) {
      for (const encoding of ['br', 'identity']) {
        const response = await fetch(`${named.url}${path}`, { headers: { 'accept-encoding': encoding } });
        expect(response.headers.get('content-encoding'), path).toBe(encoding === 'br' ? 'br' : null);
        expect(await response.text(), path).toBe(text);
      }
    }
  });
});

describe('other files', () => {
  test.each(['cloud', 'marketplace'])('the %s document is compressed', async (name) => {
    const { headers, body } = await get(`/openapi/${name}.json`, { 'accept-encoding': 'gzip, br' });
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(JSON.parse(gunzipSync(body).toString())).toMatchObject({
      openapi: '3.0.3',
      info: { title: `${name} API` },
    });
  });

  test('Markdown has its type, and scripts are cached as immutable', async () => {
    const markdown = await get('/docs/a/b.md');
    expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8');
    const script = await get('/assets/main-abc.js');
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  test('well-known files have their types', async () => {
    const types = await Promise.all(
      ['/favicon.ico', '/robots.txt', '/releases.atom'].map(
        async (path) => (await get(path)).headers['content-type'],
      ),
    );
    expect(types).toEqual([
      'image/x-icon',
      'text/plain; charset=utf-8',
      'application/atom+xml; charset=utf-8',
    ]);
    expect((await get('/robots.txt')).body.toString()).toBe(`Sitemap: ${server.url}/sitemap.xml`);
  });

  test('the sitemap names the address of this server', async () => {
    const { body } = await get('/sitemap.xml', { 'accept-encoding': 'br' });
    expect(body.toString()).toContain(`<loc>${server.url}/docs/a/b</loc>`);
  });

  test.each([
    '/csp.json',
    '/input-hash.txt',
    '/docs.html.br',
    '/docs/a',
    '/404',
    '/404.html',
    '/error',
    '/error.html',
    '/assets/',
    '/nope',
    '/docs/../csp.json',
    '/docs/%2e%2e/csp.json',
    '/..%2fcsp.json',
    '/docs/..%5c..%5ccsp.json',
    '/%252e%252e/csp.json',
    '//csp.json',
    '/csp.json%00',
  ])('%s returns 404', async (path) => {
    const { status, headers, body } = await get(path, { accept: 'text/html' });
    expect(status).toBe(404);
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(body.toString()).toBe(page('Nothing'));
  });

  test('the 404 page is compressed, and HEAD has the headers of GET', async () => {
    const headers = { accept: 'text/html', 'accept-encoding': 'br' };
    const got = await get('/nope', headers);
    expect([got.status, got.headers['content-encoding']]).toEqual([404, 'br']);
    expect(brotliDecompressSync(got.body).toString()).toBe(page('Nothing'));
    expect(got.headers.etag).toBeUndefined();
    const head = await get('/nope', headers, 'HEAD');
    expect([head.status, head.body.length]).toEqual([404, 0]);
    for (const name of ['content-type', 'content-encoding', 'content-security-policy', 'content-length'])
      expect(head.headers[name], name).toBe(got.headers[name]);
  });

  test.each(['/v1/nope', '/nope'])('a program gets a 404 in JSON for %s', async (path) => {
    const { status, headers } = await get(path, { accept: 'application/json' });
    expect([status, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
  });
});

describe('configured banner and search addresses', () => {
  const start = (env: Record<string, string>) => startTestServer({ site: folder, env });

  test('replace the defaults in every page, compressed or not, and the policy allows only their origins', async () => {
    await using other = await start({
      SWITCHYARD_BANNER_URL: 'https://news.example.org/banner.json?a=1&b="2"',
      SWITCHYARD_SEARCH_URL: '/search/other',
    });
    const named =
      'data-banner="https://news.example.org/banner.json?a=1&amp;b=%222%22" data-search="/search/other"';
    const response = await fetch(`${other.url}/docs/a/b`, { headers: { 'accept-encoding': 'br' } });
    expect(await response.text()).toContain(named);
    expect(
      await (await fetch(`${other.url}/`, { headers: { 'accept-encoding': 'identity' } })).text(),
    ).toContain(named);
    expect(response.headers.get('content-security-policy')).toContain(
      "connect-src 'self' https://news.example.org;",
    );
    expect((await get('/')).headers['content-security-policy']).toContain("connect-src 'self';");
  });

  test.each([
    'javascript:alert(1)',
    '//elsewhere.example',
    '/\\elsewhere.example',
    'banner.json',
    'https://a:b@c.example/',
  ])('reject %s', async (address) => {
    await expect(start({ SWITCHYARD_BANNER_URL: address })).rejects.toThrow(/^SWITCHYARD_BANNER_URL /);
  });
});
