/**
 * `npm run bench -- pipelining`: how long other callers wait for `/healthz` while some flood the server. Two probes run during
 * each flood: one opens a connection for each request, the other keeps one. Both send at a fixed interval and
 * do not wait for responses, so that a server that stands still counts once for each request. Beside the wait, the
 * benchmark prints how long the server's main thread computed meanwhile, because the flood shares the machine with the server.
 *
 * Flags: `--seconds` of a flood, `--connections` as a share of those of the full form.
 */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent as PlainAgent, request as requestPlain } from 'node:http';
import { Agent, request as requestTls } from 'node:https';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sleep } from '../../server/testing/host/sleep.ts';
import { printLine, quantile, type StartedServer, startSwitchyard } from '../server/harness.ts';
import type { Flood } from './flood-client.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '1' },
  },
});
const SECONDS = Number(values.seconds);
const SHARE = Number(values.connections);
const PROBE_INTERVAL_MS = 20;
/** The wait that no other caller may exceed. */
const WAIT_MAX_MS = 200;

type Shape = Pick<Flood, 'protocol' | 'connections' | 'requests' | 'path'> & {
  token: 'none' | 'wrong' | 'valid';
};

const FLOODS: readonly Shape[] = [
  { protocol: 'http1', connections: 60, requests: 1, path: '/healthz', token: 'none' },
  { protocol: 'http1', connections: 400, requests: 2000, path: '/healthz', token: 'none' },
  { protocol: 'http1', connections: 400, requests: null, path: '/healthz', token: 'none' },
  { protocol: 'http1', connections: 200, requests: null, path: '/v1/account', token: 'wrong' },
  { protocol: 'http1', connections: 200, requests: 30, path: '/v1/account', token: 'wrong' },
  { protocol: 'http1', connections: 200, requests: null, path: '/v1/account', token: 'valid' },
  { protocol: 'http2', connections: 400, requests: null, path: '/healthz', token: 'none' },
  { protocol: 'http2', connections: 400, requests: 1, path: '/healthz', token: 'none' },
  { protocol: 'http2', connections: 200, requests: null, path: '/v1/account', token: 'wrong' },
  { protocol: 'http2', connections: 200, requests: null, path: '/v1/account', token: 'valid' },
];

/** How long a request waited for its response: in milliseconds, and in those that the server's main thread computed. */
interface Wait {
  ms: number;
  busyMs: number;
}

/** Returns the processor time of the main thread of the process, in milliseconds. */
function readMainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Sends one request; without a response, the wait is Infinity. */
function probe(server: StartedServer, agent: Agent | PlainAgent): Promise<Wait> {
  const begin = performance.now();
  const busyBegin = readMainThreadMs(server.pid);
  const isTls = server.url.startsWith('https:');
  return new Promise((resolve) => {
    const sent = (isTls ? requestTls : requestPlain)(
      `${server.url}/healthz`,
      { agent, timeout: 30_000, rejectUnauthorized: false },
      (response) => {
        response.resume();
        response.once('end', () =>
          resolve({ ms: performance.now() - begin, busyMs: readMainThreadMs(server.pid) - busyBegin }),
        );
      },
    );
    sent.once('timeout', () => sent.destroy());
    sent.once('error', () => resolve({ ms: Number.POSITIVE_INFINITY, busyMs: Number.POSITIVE_INFINITY }));
    sent.end();
  });
}

async function measure(server: StartedServer, shape: Shape): Promise<void> {
  const client = fork(join(import.meta.dirname, 'flood-client.ts'), { execArgv: [] });
  // Another caller has another address, and addresses take turns.
  const settings = { keepAlive: false, maxSockets: Number.POSITIVE_INFINITY, localAddress: '127.0.0.2' };
  const isTls = server.url.startsWith('https:');
  const create = (keepAlive: boolean) =>
    isTls ? new Agent({ ...settings, keepAlive }) : new PlainAgent({ ...settings, keepAlive });
  const [fresh, reused] = [create(false), create(true)];
  await probe(server, reused);
  const { token, ...flood } = shape;
  const connections = Math.max(1, Math.round(shape.connections * SHARE));
  client.send({
    ...flood,
    url: server.url,
    connections,
    ...(token === 'none' ? {} : { authorization: `Bearer ${token === 'valid' ? server.token : 'nothing'}` }),
  });
  const probes: { fresh: Promise<Wait>[]; reused: Promise<Wait>[] } = { fresh: [], reused: [] };
  const end = performance.now() + SECONDS * 1000;
  while (performance.now() < end) {
    probes.fresh.push(probe(server, fresh));
    probes.reused.push(probe(server, reused));
    await sleep(PROBE_INTERVAL_MS);
  }
  const waits = { fresh: await Promise.all(probes.fresh), reused: await Promise.all(probes.reused) };
  client.kill('SIGKILL');
  fresh.destroy();
  reused.destroy();
  const name = `${connections} × ${shape.requests ?? 'endless'} ${shape.protocol} ${shape.path} token ${token}`;
  for (const [kind, all] of Object.entries(waits)) {
    const describe = (times: number[]): string => {
      const [p50, p99, max] = [quantile(times, 0.5), quantile(times, 0.99), Math.max(...times)];
      const late = times.filter((ms) => ms > WAIT_MAX_MS).length;
      return `p50 ${p50.toFixed(0)} p99 ${p99.toFixed(0)} max ${max.toFixed(0)} ms, ${late} over ${WAIT_MAX_MS}`;
    };
    const [times, busy] = [all.map(({ ms }) => ms), all.map(({ busyMs }) => busyMs)];
    printLine(
      `${name.padEnd(54)} ${kind.padEnd(6)} n ${all.length} ${describe(times).padEnd(44)} busy ${describe(busy)}`,
    );
  }
}

for (const tls of [false, true]) {
  const server = await startSwitchyard(tls ? { SWITCHYARD_TLS: 'self-signed' } : {});
  try {
    for (const shape of FLOODS) {
      if (tls !== (shape.protocol === 'http2')) continue;
      await measure(server, shape);
    }
  } finally {
    await server.stop();
  }
}
