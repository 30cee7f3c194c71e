/**
 * `npm run bench -- streams`: the effect of a thousand open event streams on clients that create runs. Half of the streams
 * follow runs that log a line ten times a second, half follow the account whose runs are created. Rounds with and without
 * streams alternate; the ratio is with to without. A round begins when all streams have the lines from before. In the rounds
 * without streams, a process uses as much processor time as the readers: in production these are on other machines.
 *
 * The benchmark checks that each line of a log comes once and in order. Flags: `--streams`, `--logs` to follow,
 * `--seconds` of a round, `--rounds`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { KEY_STREAMS_MAX } from '@switchyard/contract/limits.ts';
import { printLine, type StartedServer } from '../server/harness.ts';
import { sendRequest } from '../server/keep-alive-client.ts';
import {
  measurePairs,
  parseRoundFlags,
  printComparisons,
  RUNS_PATH,
  startLogs,
  withLoggingServer,
} from './creation-rounds.ts';
import type { StreamJob, StreamTotals } from './stream-readers.ts';

const { readers: STREAMS, logs: LOGS, ...ROUNDS } = parseRoundFlags('streams');

/** Invites as many members as the streams need, and returns their tokens. */
async function createMembers(server: StartedServer): Promise<string[]> {
  const send = async (path: string, body: object): Promise<{ invite?: string; token?: string }> => {
    const response = await sendRequest(server, 'POST', path, JSON.stringify(body));
    if (response.status >= 300) throw new Error(`POST ${path} returned ${response.status}: ${response.text}`);
    return JSON.parse(response.text);
  };
  const tokens: string[] = [];
  for (let n = 0; n < Math.ceil(STREAMS / KEY_STREAMS_MAX); n += 1) {
    const invited = await send('/v1/account/members', { email: `reader-${n}@example.com`, role: 'viewer' });
    const { token } = await send('/v1/account/invites/accept', { invite: invited.invite });
    tokens.push(token ?? '');
  }
  return tokens;
}

/** Opens the streams in their process. Returns a function that closes them and returns what they received. */
async function openStreams(url: string, tokens: readonly string[], logs: readonly string[]) {
  const runPaths = logs.map((run) => `${RUNS_PATH}/${run}/events`);
  const paths = Array.from({ length: STREAMS }, (_, n) =>
    n % 2 === 0 ? '/v1/account/events' : (runPaths[n % runPaths.length] ?? ''),
  );
  const job: StreamJob = { url, tokens, paths };
  const readers = fork(join(import.meta.dirname, 'stream-readers.ts'));
  const failed = once(readers, 'disconnect').then(() => {
    throw new Error('The readers of the streams ended early.');
  });
  // Once the readers have reported their totals, their end is no error.
  failed.catch(() => {});
  readers.send(job);
  await Promise.race([once(readers, 'message'), failed]);
  return async () => {
    readers.send('stop');
    const [totals]: StreamTotals[] = await Promise.race([once(readers, 'message'), failed]);
    return totals ?? { lines: 0, changes: 0, coreShare: 0 };
  };
}

/** Starts a process that uses the processor as the readers did. Returns a function that stops it. */
async function startBusyProcess({ coreShare }: StreamTotals) {
  const busy = fork(join(import.meta.dirname, 'busy-process.ts'));
  busy.send(coreShare);
  await once(busy, 'message');
  return async () => {
    busy.send('stop');
    await once(busy, 'exit');
  };
}

await withLoggingServer(LOGS, async (server) => {
  const tokens = await createMembers(server);
  const logs = await startLogs(server, LOGS);
  const pairs = await measurePairs(server, ROUNDS, {
    startReaders: () => openStreams(server.url, tokens, logs),
    startOther: startBusyProcess,
  });
  printLine(`${STREAMS} streams, half of ${LOGS} runs and half of the account, against none`);
  printComparisons(pairs);
  const totals = pairs.flatMap((pair) => pair.with.totals ?? []);
  const sum = (of: (one: StreamTotals) => number): number => totals.reduce((all, one) => all + of(one), 0);
  const coreShare = sum((one) => one.coreShare) / totals.length;
  printLine(
    `the streams received ${sum((one) => one.lines)} lines, each once and in order, and ${sum((one) => one.changes)} events of the account; their readers used ${(100 * coreShare).toFixed(0)} % of a core`,
  );
});
