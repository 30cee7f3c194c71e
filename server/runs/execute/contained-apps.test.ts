/**
 * Apps that try to access other resources, on servers of every containment level, as root and as an ordinary user. The
 * results match the rows of the table in runner/README.md that name this file. The tests of the runner check the other rows,
 * which are about resource usage and left-over files.
 */
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTerminal } from '@switchyard/contract/states.ts';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRun, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { expectStatus } from '../../testing/fixtures/resources.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { type ServerProcess, startServerProcess } from '../../testing/servers/server-process.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;
const ENVIRONMENT_SECRET = 'only-the-server-knows';
const KEY = Buffer.alloc(32, 7).toString('base64');
const FILE_SECRET = 'only-the-other-run-knows';

const MODES = ['sandbox, root', 'sandbox, user', 'limits, root', 'limits, user'];

/** Reports for each kind of access if one succeeded. It prints no content that it could read. */
const PROBING_APP = nodeApp(`async (input) => {
  const fs = await import('node:fs'), net = await import('node:net'), dns = await import('node:dns/promises');
  const tried = (attempts) => attempts.some((one) => { try { const got = one(); return got !== false; } catch { return false; } }) ? 'not held' : 'refused';
  const reads = (paths) => tried(paths.map((path) => () => fs.readFileSync(path).length > 0));
  const lists = (paths) => tried(paths.map((path) => () => fs.readdirSync(path).length > 0));
  const connects = (where) => new Promise((resolve) => {
    const socket = net.connect(where, () => { socket.destroy(); resolve(true); });
    socket.on('error', () => resolve(false)).setTimeout(1500, () => { socket.destroy(); resolve(false); });
  });
  const any = async (attempts) => (await Promise.all(attempts)).some(Boolean) ? 'not held' : 'refused';
  const both = (...answers) => answers.includes('not held') ? 'not held' : 'refused';
  const { pid, data, port, sockets, other } = input;
  const process_ = '/proc/' + pid;
  return {
    'accounts and keys of the host': both(
      reads(['/etc/shadow', '/etc/ssh/ssh_host_ed25519_key']),
      tried(['/etc/x', '/usr/x', '/bin/x'].map((path) => () => fs.writeFileSync(path, '')))),
    "the server's database, keys and tokens": both(
      lists([data]), reads(['switchyard.db', 'master-key', 'root-token'].map((name) => data + '/' + name)),
      tried([() => fs.writeFileSync(data + '/root-token', '')])),
    "the server's process: environment, memory, files, signals": both(
      reads([process_ + '/environ', process_ + '/maps', process_ + '/cwd/package.json']), lists([process_ + '/fd', process_ + '/cwd/']),
      tried([() => fs.openSync(process_ + '/mem', 'r+'), () => process.kill(pid, 0)])),
    "the server's environment": input.inEnvironment.some((one) => JSON.stringify(process.env).includes(one)) ? 'not held' : 'refused',
    'files and secrets of another run': both(
      lists([data + '/runner/runs', data + '/runner/runs/' + other + '/work']), reads([[data, 'runner/runs', other, 'work', 'key'].join('/')])),
    "the server and other services on the machine's loopback": await any([connects({ port, host: '127.0.0.1' }), connects({ port: sockets.port, host: '127.0.0.1' })]),
    'sockets of the machine without an address (abstract)': await any([connects({ path: '\\0' + sockets.abstract })]),
    'metadata of the cloud, other machines, names': await any([
      connects({ port: 80, host: '169.254.169.254' }), connects({ port: 443, host: '1.1.1.1' }),
      dns.lookup('example.com').then(() => true, () => false)]),
  };
}`);
const OTHER_APP = nodeApp(
  `async () => { console.error('up'); await new Promise((resolve) => setTimeout(resolve, 60_000)); }`,
);

/** Reads the expected results of the mode from the table in the README of the runner. */
function readExpectedResults(mode: string): Record<string, string> {
  const text = readFileSync(join(import.meta.dirname, '../../../runner/README.md'), 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => line.includes('(../server/runs/execute/contained-apps.test.ts)'));
  return Object.fromEntries(
    rows.map((row) => {
      const [, name = '', ...cells] = row.split('|').map((cell) => cell.trim());
      return [name, cells[MODES.indexOf(mode)] ?? ''];
    }),
  );
}

const NETWORK_ROW = 'the same, where the instance allows the network';

// Containment does not depend on the database.
describe.skipIf(inject('postgres')).concurrent('an app that tries to access other resources', () => {
  const listeners: Server[] = [];
  let port = 0;
  const abstract = `switchyard-test-${process.pid}`;
  beforeAll(async () => {
    for (const where of [{ port: 0, host: '127.0.0.1' }, { path: `\0${abstract}` }]) {
      const listener = createServer((socket) => socket.end());
      listeners.push(listener);
      await new Promise<void>((resolve) => listener.listen(where, resolve));
    }
    const address = listeners[0]?.address();
    if (typeof address === 'object' && address !== null) port = address.port;
  });
  afterAll(() => {
    for (const listener of listeners) listener.close();
  });

  for (const mode of MODES) {
    const [level, user] = mode.split(', ');
    // Only root can contain apps as root does.
    test.skipIf(user === 'root' && !isRoot)(mode, async (context) => {
      const data = mkdtempSync(join(tmpdir(), 'switchyard-hostile-'));
      const runsAs = isRoot && user === 'user' ? NOBODY : undefined;
      if (runsAs !== undefined) chownSync(data, runsAs, runsAs);
      const env = {
        SWITCHYARD_CONTAINMENT: level ?? '',
        SWITCHYARD_KEY: KEY,
        SERVER_SECRET: ENVIRONMENT_SECRET,
      };
      let server: ServerProcess;
      try {
        server = await startServerProcess({
          dataFolder: data,
          env,
          ...(runsAs === undefined ? {} : { user: runsAs }),
        });
      } catch (error) {
        if (!String(error).includes('cannot run an app')) throw error;
        console.warn(`\n!!! SKIPPED: this host has no ${mode}.\n`);
        return context.skip(`this host has no ${mode}`);
      }
      try {
        await expectContainment(server, data, mode);
      } finally {
        await server.kill();
        // The launcher may still remove files after the end of the server.
        rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
      }
    });
  }

  async function expectContainment(server: ServerProcess, data: string, mode: string): Promise<void> {
    await pushApp(server, 'victim', OTHER_APP);
    await pushApp(server, 'app', PROBING_APP);
    expectStatus(
      await server.request('POST', '/v1/applications/victim/secrets', {
        body: { id: 'keys', secrets: [{ type: 'file', location: 'key', value: FILE_SECRET }] },
      }),
      201,
    );
    expectStatus(
      await server.request('POST', '/v1/applications/app/versions', { body: { id: 'v1', name: 'One' } }),
      201,
    );
    expectStatus(
      await server.request('POST', '/v1/applications/app/instances', {
        body: { id: 'networked', name: 'Networked', version_id: 'v1', configuration: { network: true } },
      }),
      201,
    );
    const victim = await createRun(server, 'victim', {
      input: {},
      body: { configuration: { secrets_collection_id: 'keys' } },
    });
    const other = await waitUntil('the other run is running', async () => {
      const { body } = await server.request('GET', `/v1/applications/victim/runs/${victim}/logs/live`);
      return JSON.stringify(body).includes('up') && readdirSync(join(data, 'runner', 'runs'))[0];
    });
    const input = {
      pid: server.pid,
      data,
      port: Number(new URL(server.url).port),
      sockets: { port, abstract },
      other,
      inEnvironment: [KEY.slice(0, 20), ENVIRONMENT_SECRET.slice(0, 15)],
    };
    const rows = readExpectedResults(mode);
    const run = await runAndWait(server, { input });
    const networked = await runAndWait(server, { input, instance: 'networked' });
    for (const { metadata } of [run, networked]) expect(metadata.containment).toBe(mode.split(', ')[0]);
    const results: Record<string, string | undefined> = {
      ...run.output,
      [NETWORK_ROW]: networked.output["the server and other services on the machine's loopback"],
    };
    const measured = Object.entries(rows).filter(([, result]) => result !== 'not measured');
    expect(Object.keys(rows).sort()).toEqual(Object.keys(results).sort());
    expect(measured.map(([name]) => [name, results[name]])).toEqual(measured);
    // The setting of the instance opens the network and nothing else.
    const same = [
      "the server's database, keys and tokens",
      "the server's environment",
      'files and secrets of another run',
    ];
    for (const name of same) expect(networked.output[name]).toBe(results[name]);
    const readiness = await server.request('GET', '/readyz');
    expectStatus(readiness, 200);
    const report = readiness.body as { containment_reason: string; enforcement: object; not_held: string[] };
    // V10: readiness reports that an app has all rights of the server's user.
    const rights = /may push an app.*can read and change its database, keys and files/;
    for (const text of [report.containment_reason, report.not_held.join(' ')])
      expect(rights.test(text)).toBe(mode === 'limits, user');
    expect(Object.keys(report.enforcement)).toEqual(['memory', 'cores', 'processes', 'disk', 'tree']);
  }
});

interface Ended {
  status_v2: string;
  error: string;
  output: Record<string, string>;
  metadata: { containment: string };
}

async function runAndWait(
  server: ServerProcess,
  request: { input: unknown; instance?: string },
): Promise<Ended> {
  const id = await createRun(server, 'app', request);
  return waitUntil('the run has ended', async () => {
    const { body } = await server.request('GET', `/v1/applications/app/runs/${id}`);
    const run = body as Ended & { status_v2: Parameters<typeof isTerminal>[0] };
    return isTerminal(run.status_v2) && run;
  });
}
