/**
 * `npm run bench -- flood`: what other accounts notice while the app of one run floods its access to the API. The app sends
 * pipelined requests without reading the responses, or opens connections with bodies that never end, and does so until it is
 * canceled. Meanwhile this process asks `/healthz` and creates runs in another account, one request at a time. The same is
 * measured before without a flood.
 *
 * The aims on two cores are 200 ms for `/healthz` and 500 ms for the creation of a run. Flags: `--seconds` of a part,
 * `--connections` of the app with pipelined requests, `--bodies` that never end, `--workflows` that flood at once.
 */
import { parseArgs } from 'node:util';
import { createClient } from '@switchyard/contract/client.ts';
import { nodeApp, packFiles } from '../../server/testing/fixtures/apps.ts';
import { readResidentBytes } from '../../server/testing/host/memory.ts';
import { findProcessesByCommand, listChildren, readCpuMs } from '../../server/testing/host/processes.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import {
  BINARY_MANIFEST,
  printLine,
  pushApp,
  quantile,
  type StartedServer,
  startSwitchyard,
} from './harness.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '64' },
    bodies: { type: 'string', default: '510' },
    workflows: { type: 'string', default: '1' },
  },
});
const SECONDS = Number(values.seconds);
const CONNECTIONS = { pipelined: Number(values.connections), bodies: Number(values.bodies) };
const WORKFLOWS = Number(values.workflows);
/** How long a flood rises before it is measured, and falls after it. */
const RISE_MS = Math.min(1500, SECONDS * 1000);
const FALL_MS = Math.min(1000, SECONDS * 1000);
const PAUSE_MS = 20;
const MANIFEST = 'type: node\nruntime: node\nfiles: [main.mjs]\n';

/** Floods in the way that its input names. Errors of a connection open the next one. */
const FLOODING_APP = nodeApp(`async ({ kind, connections }) => {
  const net = await import('node:net');
  const { NEXTMV_ENDPOINT, NEXTMV_API_KEY: token } = process.env;
  const { port } = new URL(NEXTMV_ENDPOINT);
  const head = 'Host: a\\r\\nAuthorization: Bearer ' + token + '\\r\\n';
  const request = 'GET /v1/applications/flood/runs?limit=1 HTTP/1.1\\r\\n' + head + '\\r\\n';
  const pipelined = Buffer.from(request.repeat(2000));
  const unfinished = Buffer.from('POST /v1/applications/flood/runs HTTP/1.1\\r\\n' + head + 'Content-Length: 262144\\r\\n\\r\\n' + 'x'.repeat(262143));
  const open = () => {
    const socket = net.connect(port, '127.0.0.1', () => {
      if (kind === 'bodies') return socket.write(unfinished);
      const more = () => { while (!socket.destroyed && socket.write(pipelined)); };
      socket.on('drain', more);
      more();
    });
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(open, 10));
  };
  for (let n = 0; n < connections; n += 1) open();
  console.error('floods');
  await new Promise(() => setInterval(() => {}, 1000));
}`);

interface Sample {
  health: number[];
  creation: number[];
  failures: number;
  peakBytes: number;
  /** Busy cores of the server and of its API proxy. On a busy machine they say more than times. */
  serverCores: number;
  proxyCores: number;
}

/** Asks for the health and creates runs of the account of the server's own token, until the time is over. */
async function observe(server: StartedServer, seconds: number): Promise<Sample> {
  const sample: Sample = {
    health: [],
    creation: [],
    failures: 0,
    peakBytes: 0,
    serverCores: 0,
    proxyCores: 0,
  };
  const proxyPid = findProcessesByCommand('access/process/main.ts').find((pid) =>
    listChildren(server.pid).includes(pid),
  );
  const readTimes = (): number[] =>
    [server.pid, proxyPid].map((pid) => (pid === undefined ? 0 : readCpuMs(pid)));
  const [startedAt, before] = [performance.now(), readTimes()];
  const until = performance.now() + seconds * 1000;
  const repeat = async (times: number[], send: () => Promise<{ status: number }>): Promise<void> => {
    while (performance.now() < until) {
      const begin = performance.now();
      const status = await send().then(
        (response) => response.status,
        () => 0,
      );
      times.push(performance.now() - begin);
      if (status !== 200 && status !== 202) sample.failures += 1;
      sample.peakBytes = Math.max(sample.peakBytes, readResidentBytes(server.pid));
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all([
    repeat(sample.health, () => server.request('GET', '/healthz')),
    repeat(sample.creation, () =>
      server.request('POST', '/v1/applications/bench/runs', { body: { input: {} } }),
    ),
  ]);
  const wallMs = performance.now() - startedAt;
  const [serverCores = 0, proxyCores = 0] = readTimes().map((ms, at) => (ms - (before[at] ?? 0)) / wallMs);
  return { ...sample, serverCores, proxyCores };
}

function print(name: string, sample: Sample): void {
  const { health, creation, failures, peakBytes, serverCores, proxyCores } = sample;
  const format = (times: number[]): string =>
    [0.5, 0.99, 1]
      .map((share) => `${(share === 1 ? Math.max(...times) : quantile(times, share)).toFixed(0).padStart(6)}`)
      .join('');
  printLine(
    `${name.padEnd(20)} /healthz p50, p99, max: ${format(health)} ms   creation: ${format(creation)} ms   failures ${failures}   server ${(peakBytes / 1024 ** 2).toFixed(0)} MiB, ${serverCores.toFixed(2)} cores   proxy ${proxyCores.toFixed(2)} cores`,
  );
}

/** Creates the account of the attacker with an instance whose app reaches the API; returns its client. */
async function createAttacker(server: StartedServer) {
  const created = await server.client.call('createAccount', {
    body: { name: 'Stranger', email: 'stranger@example.com' },
  });
  const { token } = created.body;
  const attacker = Object.assign({ ...server }, { client: createClient({ url: server.url, token }) });
  const params = { application_id: 'flood' };
  const { client } = attacker;
  await client.call('createApplication', { body: { id: 'flood', name: 'Flood' } });
  const upload = await client.call('getBinaryUpload', { params });
  await fetch(upload.body.upload_url, {
    method: 'PUT',
    body: new Uint8Array(await packFiles({ ...FLOODING_APP, 'app.yaml': MANIFEST })),
  });
  await client.call('activateBinary', {
    params,
    body: { requirements: { executable_type: 'node', runtime: 'node' } },
  });
  await client.call('createVersion', { params, body: { id: 'v1', name: 'Version 1' } });
  const configuration = { api_access: { applications: ['flood'] as never[] } };
  await client.call('createInstance', {
    params,
    body: { id: 'flow', name: 'Workflow', version_id: 'v1', configuration },
  });
  return client;
}

const server = await startSwitchyard({
  SWITCHYARD_CAPACITY: String(WORKFLOWS + 1),
  SWITCHYARD_RATE_LIMIT: '6000/1000',
});
try {
  const main = '#!/bin/sh\necho "{}"\n';
  await pushApp(server, await packFiles({ main, 'app.yaml': BINARY_MANIFEST }), 'binary');
  const attacker = await createAttacker(server);
  print('without a flood', await observe(server, SECONDS));
  for (const kind of ['pipelined', 'bodies'] as const) {
    const params = { application_id: 'flood' };
    const ids: string[] = [];
    for (let n = 0; n < WORKFLOWS; n += 1) {
      const created = await attacker.call('createRun', {
        params,
        query: { instance_id: 'flow' },
        body: { input: { kind, connections: CONNECTIONS[kind] } },
      });
      ids.push(created.body.run_id);
    }
    await sleep(RISE_MS);
    print(`flood: ${kind}`, await observe(server, SECONDS));
    for (const run_id of ids)
      await attacker.call('cancelRun', { params: { ...params, run_id: run_id as never } }).catch(() => {});
    await sleep(FALL_MS);
  }
} finally {
  await Promise.race([server.stop(), sleep(15_000)]);
}
