/**
 * The readers of the streams of the benchmark, in a separate process of the lowest priority. In production the readers are
 * on other machines, so their processor time must not slow down the server here. The process opens the streams
 * of the job that it receives, reports once all are open and have the lines so far, and reports its totals after the next
 * message. A missing, repeated or unordered line ends it with an error.
 */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { constants, setPriority } from 'node:os';
import { readEvents } from '@switchyard/contract/read-events.ts';
import { RUNS_PATH } from './creation-rounds.ts';

/** The streams to open: their paths, and the tokens of the members that share them. */
export interface StreamJob {
  url: string;
  tokens: readonly string[];
  paths: readonly string[];
}

/** The events that all streams received. */
export interface StreamTotals {
  lines: number;
  changes: number;
  /** The processor time of the readers, as a share of one core, since all streams were open. */
  coreShare: number;
}

setPriority(constants.priority.PRIORITY_LOW);
const [job]: StreamJob[] = await once(process, 'message');
if (!job) throw new Error('The process received no job.');
const { url, tokens, paths } = job;
const totals: StreamTotals = { lines: 0, changes: 0, coreShare: 0 };
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
let isOver = false;

function openStream(path: string, token: string, lastId: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(lastId !== '' && { 'last-event-id': lastId }) };
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

interface LogEvent {
  items: { timestamp: string; log: string }[];
}

/** The last event that a reader has, and the number of the next line. */
interface Position {
  id: string;
  next: number;
}

/** Reads the log so far, so that the streams begin at its end: reading old lines is not the cost of an open stream. */
async function findEnd(path: string, token: string): Promise<Position> {
  const startedAt = Date.now();
  const response = await openStream(path, token, '');
  let next = 0;
  for await (const { event, data, id } of readEvents(toWebStream(response))) {
    if (event !== 'log') continue;
    const { items }: LogEvent = JSON.parse(data);
    next += items.length;
    if (Date.parse(items.at(-1)?.timestamp ?? '') < startedAt) continue;
    response.destroy();
    return { id, next };
  }
  throw new Error(`${path} ended`);
}

/** Reads the stream; calls `onLine` with the time of the last line of each event. */
async function readStream(
  path: string,
  response: IncomingMessage,
  { from, onLine }: { from: Position; onLine: (at: number) => void },
): Promise<void> {
  let { next } = from;
  for await (const { event, data } of readEvents(toWebStream(response))) {
    if (event !== 'log') {
      totals.changes += 1;
      continue;
    }
    const { items }: LogEvent = JSON.parse(data);
    for (const { log } of items) {
      if (log !== `line ${next}`) throw new Error(`${path} has "${log}" instead of line ${next}`);
      next += 1;
    }
    totals.lines += items.length;
    onLine(Date.parse(items.at(-1)?.timestamp ?? ''));
  }
}

const ends = new Map<string, Position>();
for (const path of new Set(paths))
  if (path.startsWith(RUNS_PATH)) ends.set(path, await findEnd(path, tokens[0] ?? ''));
const responses: IncomingMessage[] = [];
/** The streams of runs without a line from after all streams were open: the server still sends them older lines. */
const behind = new Set<IncomingMessage>();
let openedAt = Number.POSITIVE_INFINITY;
const caughtUp = Promise.withResolvers<void>();
for (const [n, path] of paths.entries()) {
  const from = ends.get(path);
  const response = await openStream(path, tokens[n % tokens.length] ?? '', from?.id ?? '');
  responses.push(response);
  if (from) behind.add(response);
  const onLine = (at: number): void => {
    if (at >= openedAt && behind.delete(response) && behind.size === 0) caughtUp.resolve();
  };
  readStream(path, response, { from: from ?? { id: '', next: 0 }, onLine }).catch((error: unknown) => {
    // Closing the streams at the end cuts their events.
    if (!isOver) throw error;
  });
}
openedAt = Date.now();
if (behind.size > 0) await caughtUp.promise;
const before = process.cpuUsage();
const beganAt = performance.now();
process.send?.('open');
await once(process, 'message');
const { user, system } = process.cpuUsage(before);
totals.coreShare = (user + system) / 1000 / (performance.now() - beganAt);
isOver = true;
for (const response of responses) response.destroy();
agent.destroy();
process.send?.(totals);
process.disconnect?.();
