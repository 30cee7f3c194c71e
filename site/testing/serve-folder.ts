import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { replaceBuiltAddress } from '@switchyard/server/testing/servers/site-text.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
};

/** Formats the strictest policy under which the pages promise to work. */
function formatPolicy(outDir: string): string {
  const { scripts, styles }: { scripts: string[]; styles: string[] } = JSON.parse(
    readFileSync(join(outDir, 'csp.json'), 'utf8'),
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(' ')}`,
    `style-src 'self' ${styles.join(' ')}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
  ].join('; ');
}

/** Serves a built site on a free port of this machine, with the security policy, as the product's server does. */
export async function serveFolder(outDir: string): Promise<AsyncDisposable & { url: string }> {
  const policy = formatPolicy(outDir);
  let url = '';
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/healthz') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}');
      return;
    }
    if (pathname === '/readyz') {
      const body = { status: 'not ready', reason: 'The server is shutting down.', containment: 'sandbox' };
      response.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    const wanted =
      pathname === '/' ? '/index.html' : extname(pathname) === '' ? `${pathname}.html` : pathname;
    const found = existsSync(join(outDir, wanted));
    const path = found ? wanted : '/404.html';
    const type = types[extname(path)] ?? 'application/octet-stream';
    const plain = readFileSync(join(outDir, path));
    response
      .writeHead(found ? 200 : 404, { 'content-type': type, 'content-security-policy': policy })
      .end(replaceBuiltAddress(pathname, { type, plain }, url) ?? plain);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  url = `http://127.0.0.1:${port}`;
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
