/**
 * `npm run bench -- streams`: the effect of a thousand open event streams on clients that create runs. Half of the streams
 * follow runs that log a line ten times a second, half follow the account whose runs are created. Rounds with and without
 * streams alternate; the ratio is with to without.
 *
 * The benchmark checks that each line of a log comes once and in order. Flags: `--streams`, `--logs` to follow,
 * `--seconds` of a round, `--rounds`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { MEMBER_STREAMS_MAX } from '@switchyard/contract/limits.ts';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { buildTrivialProgram } from '../runner/containment.ts';
import { printLine, pushApp, type StartedServer, startSwitchyard } from '../server/harness.ts';
import { closeConnections, sendRequest } from '../server/keep-alive-client.ts';
import {
  LOGGING_MAIN,
  LOGGING_MANIFEST,
  measurePairs,
  printComparisons,
  RUNS_PATH,
  startLogs,
} from './creation-rounds.ts';
import type { StreamJob, StreamTotals } from './streams-thread.ts';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '1000' },
    logs: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
  },
});
const STREAMS = Number(values.streams);
const LOGS = Number(values.logs);

/** Invites as many members as the streams need, and returns their tokens. */
async function createMembers(server: StartedServer): Promise<string[]> {
  const send = async (path: string, body: object): Promise<{ invite?: string; token?: string }> => {
    const response = await sendRequest(server, 'POST', path, JSON.stringify(body));
    if (response.status >= 300) throw new Error(`POST ${path} returned ${response.status}: ${response.text}`);
    return JSON.parse(response.text);
  };
  const tokens: string[] = [];
  for (let n = 0; n < Math.ceil(STREAMS / MEMBER_STREAMS_MAX); n += 1) {
    const invited = await send('/v1/account/members', { email: `reader-${n}@example.com`, role: 'viewer' });
    const { token } = await send('/v1/account/invites/accept', { invite: invited.invite });
    tokens.push(token ?? '');
  }
  return tokens;
}

/** Opens the streams in their thread. Returns a function that closes them and returns what they received. */
async function openStreams(url: string, tokens: readonly string[], logs: readonly string[]) {
  const runPaths = logs.map((run) => `${RUNS_PATH}/${run}/events`);
  const paths = Array.from({ length: STREAMS }, (_, n) =>
    n % 2 === 0 ? '/v1/account/events' : (runPaths[n % runPaths.length] ?? ''),
  );
  const workerData: StreamJob = { url, tokens, paths };
  const thread = new Worker(new URL('./streams-thread.ts', import.meta.url), { workerData });
  const failed = new Promise<never>((_, reject) => thread.once('error', reject));
  const receiveMessage = <T>(): Promise<T> =>
    Promise.race([new Promise<T>((resolve) => thread.once('message', resolve)), failed]);
  await receiveMessage();
  return () => {
    const totals = receiveMessage<StreamTotals>();
    thread.postMessage('stop');
    return totals;
  };
}

const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
// Each logging run occupies a slot; two slots remain for the created runs.
const server = await startSwitchyard({ SWITCHYARD_CAPACITY: String(LOGS + 2) });
try {
  const quick = readFileSync(buildTrivialProgram(folder));
  const files = { 'app.yaml': LOGGING_MANIFEST, main: LOGGING_MAIN, quick };
  await pushApp(server, await packFiles(files), 'binary');
  const tokens = await createMembers(server);
  const logs = await startLogs(server, LOGS);
  const options = { seconds: Number(values.seconds), rounds: Number(values.rounds) };
  const pairs = await measurePairs(server, options, () => openStreams(server.url, tokens, logs));
  printLine(`${STREAMS} streams, half of ${LOGS} runs and half of the account, against none`);
  printComparisons(pairs);
  const totals = pairs.flatMap((pair) => pair.with.totals ?? []);
  const sum = (of: (one: StreamTotals) => number): number => totals.reduce((all, one) => all + of(one), 0);
  printLine(
    `the streams received ${sum((one) => one.lines)} lines, each once and in order, and ${sum((one) => one.changes)} events of the account`,
  );
} finally {
  closeConnections();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
