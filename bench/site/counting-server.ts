/**
 * A built site, served by the product's server in a separate process, behind a relay that counts the sent bytes. It
 * counts whole responses with their heads, for every client: the page, a worker of it, or the prefetching browser.
 */
import { fork } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, 'serve-site.ts');

/** A site server with a counter of sent bytes. */
export type MeasuredServer = AsyncDisposable & {
  url: string;
  /** Returns the sent bytes since the last call. */
  readAndResetBytes(): number;
};

/** Serves the folder behind a counting relay. Throws if the server exits before it listens. */
export async function serveMeasured(folder: string): Promise<MeasuredServer> {
  const child = fork(PROGRAM, [folder], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = await Promise.race([
    new Promise<string>((resolve) => child.once('message', (message) => resolve(String(message)))),
    gone.then(() => {
      throw new Error(`The server of ${folder} exited before it listened.`);
    }),
  ]);
  const port = Number(new URL(address).port);

  let bytes = 0;
  const relay = createServer((reader) => {
    const server = connect(port, '127.0.0.1');
    server.on('data', (chunk) => {
      bytes += chunk.length;
    });
    // Either side may disconnect during a response, as browsers do.
    for (const socket of [reader, server]) socket.on('error', () => socket.destroy());
    reader.pipe(server).pipe(reader);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const own = relay.address();
  return {
    url: `http://127.0.0.1:${typeof own === 'object' && own ? own.port : 0}`,
    readAndResetBytes() {
      const sent = bytes;
      bytes = 0;
      return sent;
    },
    async [Symbol.asyncDispose]() {
      relay.close();
      child.disconnect();
      await gone;
    },
  };
}
