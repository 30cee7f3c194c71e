/**
 * `npm run bench -- load`: creating runs and reading metadata over 1, 10, 100 and 1,000 keep-alive connections. Each
 * sends its next request as soon as it has the response. The comparison is bare Fastify with the same response bytes;
 * both alternate. The server has no slots, so the created runs stay queued.
 *
 * Afterwards the benchmark stops the server and counts the rows. Every run acknowledged with 202 exists once, with its
 * input and one event. Runs without an acknowledgement are at most the requests that the end of a part cut off.
 *
 * This process runs the clients. It reports their processor time too, because they share the machine with the server.
 * Flags: `--seconds` of a part, `--connections 1,10`, `--database postgres`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { startPostgres } from '../../server/testing/database/postgres-server.ts';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { readResidentBytes } from '../../server/testing/host/memory.ts';
import { readCpuMs } from '../../server/testing/host/processes.ts';
import { openQuery, type RunQuery } from '../../server/testing/load/invariants.ts';
import {
  BENCH_APPLICATION,
  BINARY_MANIFEST,
  printLine,
  pushApp,
  quantile,
  ROUTING_INPUT,
  sampleIntervalMs,
  startBareFastify,
  startSwitchyard,
} from './harness.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '1,10,100,1000' },
    database: { type: 'string', default: 'sqlite' },
  },
});
const SECONDS = Number(values.seconds);
const CONNECTIONS = values.connections.split(',').map(Number);
/** Timeout of a client. */
const TIMEOUT_S = 30;
const RUNS = `/v1/applications/${BENCH_APPLICATION}/runs`;

interface Target {
  url: string;
  pid: number;
  method: 'GET' | 'POST';
  connections: number;
  token?: string;
  body?: string;
  /** Receives every response with a run id. */
  onRun?(id: string): void;
}

interface Measured {
  perSecond: number;
  p50: number;
  p99: number;
  /** Responses other than 2xx, broken connections, and timeouts. */
  errors: number;
  /** Busy cores of the server process and of the client process. */
  serverCores: number;
  clientCores: number;
  residentMiB: number;
}

async function measure(target: Target): Promise<Measured> {
  const times: number[] = [];
  const [server, client] = [readCpuMs(target.pid), process.cpuUsage()];
  const result = await autocannon({
    url: target.url,
    method: target.method,
    connections: target.connections,
    duration: SECONDS,
    sampleInt: sampleIntervalMs(SECONDS),
    timeout: TIMEOUT_S,
    headers: {
      'content-type': 'application/json',
      ...(target.token ? { authorization: `Bearer ${target.token}` } : {}),
    },
    ...(target.body ? { body: target.body } : {}),
    setupClient(one) {
      one.on('body', (body) => {
        const id = target.onRun && /"run_id":"([^"]+)"/.exec(body.toString())?.[1];
        if (id) target.onRun?.(id);
      });
      one.on('response', (_status, _bytes, ms) => times.push(ms));
    },
  });
  const used = process.cpuUsage(client);
  const wallMs = result.duration * 1000;
  return {
    perSecond: result['2xx'] / result.duration,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    errors: result.non2xx + result.errors + result.timeouts,
    serverCores: (readCpuMs(target.pid) - server) / wallMs,
    clientCores: (used.user + used.system) / 1000 / wallMs,
    residentMiB: readResidentBytes(target.pid) / 1024 ** 2,
  };
}

const WIDTHS = [16, 11, 11, 7, 9, 9, 10, 10, 7, 7, 7, 8];
const line = (cells: readonly (string | number)[]): void =>
  printLine(cells.map((cell, at) => String(cell).padStart(WIDTHS[at] ?? 8)).join(' '));

function row(what: string, connections: number, ours: Measured, bare: Measured): void {
  const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
  line([
    what,
    connections,
    ours.perSecond.toFixed(0),
    (ours.perSecond / bare.perSecond).toFixed(2),
    ms(ours.p50),
    ms(ours.p99),
    ms(bare.p50),
    ms(bare.p99),
    ours.errors,
    ours.serverCores.toFixed(2),
    ours.clientCores.toFixed(2),
    ours.residentMiB.toFixed(0),
  ]);
}

/** Returns errors in the runs of the database. `cutOff` is the maximum number of requests without a response. */
async function count(query: RunQuery, acknowledged: readonly string[], cutOff: number): Promise<string[]> {
  const errors: string[] = [];
  const ids = new Set(acknowledged);
  if (ids.size < acknowledged.length)
    errors.push(`${acknowledged.length - ids.size} responses repeated the id of another response`);
  const rows = await query(
    `select runs.id as id, count(run_events.seq) as events, max(contents.bytes) as bytes from runs
     left join run_events on run_events.run_id = runs.id
     left join contents on contents.id = runs.input_content_id group by runs.id`,
  );
  const existing = new Set(rows.map((one) => String(one.id)));
  const lost = acknowledged.filter((id) => !existing.has(id)).length;
  if (lost > 0) errors.push(`${lost} acknowledged runs do not exist`);
  const unacknowledged = existing.size - (ids.size - lost);
  if (unacknowledged > cutOff)
    errors.push(`${unacknowledged} runs exist without an acknowledgement; at most ${cutOff} are possible`);
  const incomplete = rows.filter((one) => Number(one.events) !== 1 || Number(one.bytes ?? 0) < 1000).length;
  if (incomplete > 0) errors.push(`${incomplete} runs lack their input, or do not have exactly one event`);
  printLine(
    `\n${ids.size} runs were acknowledged with 202; ${existing.size} exist, ${unacknowledged} of them without an acknowledgement (at most ${cutOff}).`,
  );
  return errors;
}

const data = mkdtempSync(join(tmpdir(), 'switchyard-load-'));
const postgres = values.database === 'postgres' ? await startPostgres() : null;
const server = await startSwitchyard(
  {
    SWITCHYARD_CAPACITY: '0,16c60gb12h=1',
    ...(postgres ? { SWITCHYARD_DATABASE: postgres.url } : {}),
  },
  data,
);
const bare = await startBareFastify();
const acknowledged: string[] = [];
try {
  await pushApp(server, await packFiles({ 'app.yaml': BINARY_MANIFEST, main: '#!/bin/sh\n' }), 'binary');
  const { token } = server;
  const body = JSON.stringify({ input: ROUTING_INPUT, options: { duration: '2' } });
  /** The response comes after earlier requests: the server completes requests whose clients have disconnected. */
  const createOne = async (): Promise<void> => {
    const { body: made } = await server.request('POST', RUNS, { body });
    acknowledged.push((made as { run_id: string }).run_id);
  };
  await createOne();
  const metadata = `${RUNS}/${acknowledged[0]}/metadata`;
  const { text } = await server.request('GET', metadata);
  await fetch(`${bare.url}/metadata`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: text,
  });
  line([
    '',
    'connections',
    'requests/s',
    'ratio',
    'p50 ms',
    'p99 ms',
    'bare p50',
    'bare p99',
    'errors',
    'server',
    'client',
    'MiB',
  ]);
  for (const connections of CONNECTIONS) {
    const create = { method: 'POST', connections, body } as const;
    const bareCreate = await measure({ ...create, url: `${bare.url}${RUNS}`, pid: bare.pid });
    const onRun = (id: string): number => acknowledged.push(id);
    const ours = await measure({ ...create, url: `${server.url}${RUNS}`, pid: server.pid, token, onRun });
    row('create a run', connections, ours, bareCreate);
    await createOne();
    const read = { method: 'GET', connections } as const;
    const ownRead = await measure({ ...read, url: `${server.url}${metadata}`, pid: server.pid, token });
    const bareRead = await measure({ ...read, url: `${bare.url}${metadata}`, pid: bare.pid });
    row('read metadata', connections, ownRead, bareRead);
  }
} finally {
  bare.stop();
  await server.stop();
}
const { query, close } = await openQuery(data, postgres?.url ?? '');
const cutOff = CONNECTIONS.reduce((sum, connections) => sum + connections, 0);
const wrong = await count(query, acknowledged, cutOff);
await close();
await postgres?.stop();
rmSync(data, { recursive: true, force: true });
printLine(wrong.length === 0 ? 'No run is lost or duplicated.' : wrong.join('\n'));
printLine(
  'server, client: busy cores of the server and of the client. ratio: requests/s to those of bare Fastify.',
);
process.exitCode = wrong.length === 0 ? 0 : 1;
