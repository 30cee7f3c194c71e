/**
 * The readers of the streams of the benchmark, in a separate thread, so that they do not slow down the clients that create
 * runs. The thread reports once all streams are open, and its totals after the message to stop. A missing, repeated or
 * unordered line ends it with an error.
 */
import { Agent, get, type IncomingMessage } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { readEvents } from '@switchyard/contract/read-events.ts';

/** Start data of the thread: the paths of the streams, which the members share. */
export interface StreamJob {
  url: string;
  tokens: readonly string[];
  paths: readonly string[];
}

/** The events that all streams received. */
export interface StreamTotals {
  lines: number;
  changes: number;
}

const { url, tokens, paths }: StreamJob = workerData;
const totals: StreamTotals = { lines: 0, changes: 0 };
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
let isOver = false;

function openStream(path: string, token: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    get(url + path, { agent, headers }, (response) =>
      response.statusCode === 200
        ? resolve(response)
        : reject(new Error(`${path} returned ${response.statusCode}`)),
    ).once('error', reject);
  });
}

function toWebStream(response: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(stream) {
      response.on('data', (bytes: Buffer) => stream.enqueue(bytes));
      response.once('error', (error) => stream.error(error));
      response.once('end', () => stream.close());
    },
  });
}

async function readStream(path: string, response: IncomingMessage): Promise<void> {
  let next = 0;
  for await (const { event, data } of readEvents(toWebStream(response))) {
    if (event !== 'log') {
      totals.changes += 1;
      continue;
    }
    const { items }: { items: { log: string }[] } = JSON.parse(data);
    for (const { log } of items) {
      if (log !== `line ${next}`) throw new Error(`${path} has "${log}" instead of line ${next}`);
      next += 1;
    }
    totals.lines += items.length;
  }
}

const responses: IncomingMessage[] = [];
for (const [n, path] of paths.entries()) {
  const response = await openStream(path, tokens[n % tokens.length] ?? '');
  responses.push(response);
  readStream(path, response).catch((error: unknown) => {
    // Closing the streams at the end cuts their events.
    if (!isOver) throw error;
  });
}
parentPort?.once('message', () => {
  isOver = true;
  for (const response of responses) response.destroy();
  agent.destroy();
  parentPort?.postMessage(totals);
});
parentPort?.postMessage('open');
