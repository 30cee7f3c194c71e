/**
 * `npm run bench -- load`: creating runs and reading metadata over 1, 10, 100 and 1,000 connections that are kept open and
 * ask again as soon as they are answered, against bare Fastify that answers the same bytes, in turn. The created runs stay
 * queued (the server has no slots). Afterwards the server is stopped and its database counted: every run that was answered
 * with 202 is there once, with its input and one event, and what is there without an answer is at most the requests that
 * the end of a part cut off.
 *
 * The clients are this process; what they cost of the processor is told, because they share the machine with the server.
 * `--seconds` of a part, `--connections 1,10`, `--database postgres`.
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
/** A client gives a request up after this long. */
const TIMEOUT_S = 30;
const RUNS = `/v1/applications/${BENCH_APPLICATION}/runs`;

interface Asked {
  url: string;
  pid: number;
  method: 'GET' | 'POST';
  connections: number;
  token?: string;
  body?: string;
  /** Told every answer that has a run's id in it. */
  onRun?(id: string): void;
}

interface Measured {
  perSecond: number;
  p50: number;
  p99: number;
  /** Answers other than 2xx, connections that broke, and requests given up. */
  errors: number;
  /** Cores that the asked and the asking process kept busy. */
  serverCores: number;
  clientCores: number;
  residentMiB: number;
}

async function measure(asked: Asked): Promise<Measured> {
  const times: number[] = [];
  const [server, client] = [readCpuMs(asked.pid), process.cpuUsage()];
  const result = await autocannon({
    url: asked.url,
    method: asked.method,
    connections: asked.connections,
    duration: SECONDS,
    timeout: TIMEOUT_S,
    headers: {
      'content-type': 'application/json',
      ...(asked.token ? { authorization: `Bearer ${asked.token}` } : {}),
    },
    ...(asked.body ? { body: asked.body } : {}),
    setupClient(one) {
      one.on('body', (body) => {
        const id = asked.onRun && /"run_id":"([^"]+)"/.exec(body.toString())?.[1];
        if (id) asked.onRun?.(id);
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
    serverCores: (readCpuMs(asked.pid) - server) / wallMs,
    clientCores: (used.user + used.system) / 1000 / wallMs,
    residentMiB: readResidentBytes(asked.pid) / 1024 ** 2,
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

/** What is wrong with the runs in the database; `cutOff` is how many requests may have been without an answer. */
async function count(query: RunQuery, acknowledged: readonly string[], cutOff: number): Promise<string[]> {
  const wrong: string[] = [];
  const asked = new Set(acknowledged);
  if (asked.size < acknowledged.length)
    wrong.push(`${acknowledged.length - asked.size} answers named a run that another had named`);
  const rows = await query(
    `select runs.id as id, count(run_events.seq) as events, max(contents.bytes) as bytes from runs
     left join run_events on run_events.run_id = runs.id
     left join contents on contents.id = runs.input_content_id group by runs.id`,
  );
  const there = new Set(rows.map((one) => String(one.id)));
  const lost = acknowledged.filter((id) => !there.has(id)).length;
  if (lost > 0) wrong.push(`${lost} acknowledged runs are not there`);
  const unasked = there.size - (asked.size - lost);
  if (unasked > cutOff) wrong.push(`${unasked} runs are there that nobody was told of; ${cutOff} could be`);
  const incomplete = rows.filter((one) => Number(one.events) !== 1 || Number(one.bytes ?? 0) < 1000).length;
  if (incomplete > 0) wrong.push(`${incomplete} runs have not one event and their input`);
  printLine(
    `\n${asked.size} runs were answered with 202; ${there.size} are there, ${unasked} of them cut off before their answer (at most ${cutOff}).`,
  );
  return wrong;
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
  /** Answered once what was asked before it is done: the server goes on with requests whose clients have left. */
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
printLine(wrong.length === 0 ? 'Nothing is lost, and nothing is there twice.' : wrong.join('\n'));
printLine(
  'server, client: busy cores of the server and of the process that asks. ratio: requests/s to those of bare Fastify.',
);
process.exitCode = wrong.length === 0 ? 0 : 1;
