/** An app in a sandbox without network reaches the one Unix socket that its run names, and nothing else. */
import { chmodSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type AppSpec,
  createScratchFolder,
  removeFolder,
  runApp,
  startRunnerConfinedBy,
} from './testing/runner-harness.ts';

const PORT = 4747;
/** Prints the response at the forwarded port, and the error of a connection to the given port of the host. */
const APP = `
const hostPort = process.argv[2];
const answer = await fetch('http://127.0.0.1:${PORT}/').then((response) => response.text(), (error) => error.cause.code);
const host = await fetch('http://127.0.0.1:' + hostPort + '/').then((response) => response.text(), (error) => error.cause.code);
let later = answer;
if (process.argv[3]) console.error('first');
for (let n = 0; process.argv[3] && later !== 'replaced' && n < 500; n += 1) {
  await new Promise((resolve) => setTimeout(resolve, 20));
  later = await fetch('http://127.0.0.1:${PORT}/').then((response) => response.text(), (error) => error.cause.code);
}
console.log(JSON.stringify({ answer, host, ...(process.argv[3] ? { later } : {}) }));
`;

async function listen(text: string, place: object) {
  const server = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => server.listen(place, resolve));
  return server;
}

test.each(['bubblewrap as root', 'bubblewrap'])('%s', async (confinement) => {
  const folder = createScratchFolder();
  const runner = await startRunnerConfinedBy(confinement, folder);
  if (runner === undefined) return removeFolder(folder);
  const socketPath = join(folder, 'forwarded', 'socket');
  mkdirSync(dirname(socketPath));
  const [behind, outside] = [await listen('socket', { path: socketPath }), await listen('host', { port: 0 })];
  chmodSync(socketPath, 0o666);
  const address = outside.address();
  const port = typeof address === 'object' ? `${address?.port}` : '';
  const app: AppSpec = { files: { 'main.mjs': APP }, type: 'node', arguments: [port] };
  try {
    const forwarded = await runApp(runner, { ...app, forward: { port: PORT, socketPath } });
    expect(forwarded.outcome.error).toBe('');
    expect(JSON.parse(forwarded.stdout)).toEqual({ answer: 'socket', host: 'ECONNREFUSED' });
    let replacement: Awaited<ReturnType<typeof listen>> | undefined;
    const replaced = await runApp(runner, {
      ...app,
      arguments: [port, 'again'],
      forward: { port: PORT, socketPath },
      async onLine() {
        // As when the process behind the socket is replaced.
        await new Promise((resolve) => behind.close(resolve));
        replacement = await listen('replaced', { path: socketPath });
        chmodSync(socketPath, 0o666);
      },
    });
    replacement?.close();
    expect(JSON.parse(replaced.stdout)).toMatchObject({ answer: 'socket', later: 'replaced' });
    const closed = await runApp(runner, app);
    expect(JSON.parse(closed.stdout)).toEqual({ answer: 'ECONNREFUSED', host: 'ECONNREFUSED' });
  } finally {
    await runner.close();
    for (const server of [behind, outside]) server.close();
    removeFolder(folder);
  }
});
