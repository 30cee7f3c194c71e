/** The commands for resources of an account, against one server. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEntry } from '@switchyard/contract/account/audit.ts';
import { createClient } from '@switchyard/contract/client.ts';
import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { createOtherAccount } from '@switchyard/server/testing/fixtures/accounts.ts';
import { createRun, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { createInstance } from '@switchyard/server/testing/fixtures/resources.ts';
import { waitUntil } from '@switchyard/server/testing/host/wait-until.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandSettings, runCommand } from '../testing/run-command.ts';
import { verifyAudit } from './account/audit-commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-resources-'));
let server: TestServer;
let app: string;
beforeAll(async () => {
  // The token of the root key alone may then create an account.
  server = await startTestServer({ env: { SWITCHYARD_SIGN_UP: 'closed' } });
  app = await createInstance(server);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const settings = (more: Partial<CommandSettings> = {}): CommandSettings => ({
  cwd: folder,
  env: {
    ...{ SWITCHYARD_CONFIG: folder, SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token },
    SWITCHYARD_APP: app,
  },
  ...more,
});
const run = (line: string | string[], input = '') =>
  runCommand(
    typeof line === 'string' ? line.split(' ') : line,
    settings({ input, isTerminal: input !== '' }),
  );

/** Returns standard output of a command that has to succeed. */
async function print(line: string | string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await run(line, input);
  expect(code, stderr).toBe(0);
  return stdout;
}
const read = async (line: string) => JSON.parse(await print(`${line} --json`));

describe('instances', () => {
  test('are created, changed with their configuration, locked and deleted', async () => {
    await print(
      'instances create cli --version-id v1 --option duration=30 --priority 2 --label gpu --license gurobi=1',
    );
    const before = await read('instances get cli');
    expect(before.configuration).toMatchObject({
      ...{ options: { duration: '30' }, queuing: { priority: 2, disabled: false } },
      requirements: { labels: ['gpu'], licenses: { gurobi: 1 } },
    });
    await print('instances update cli --max-duration 60');
    expect((await read('instances get cli')).configuration).toEqual({
      ...before.configuration,
      max_duration: 60,
    });
    await print('instances update cli --no-max-duration');
    await print('instances update cli --no-queuing --option gap=0.1 --remove-option duration --network');
    expect((await read('instances get cli')).configuration).toEqual({
      ...before.configuration,
      ...{ options: { gap: '0.1' }, queuing: { priority: 2, disabled: true }, network: true },
    });
    await print('instances lock cli');
    expect((await run('instances update cli --priority 1')).code).toBe(5);
    await print('instances unlock cli');
    await print('instances set-default cli');
    expect(await print('instances')).toMatch(/^cli +v1 +\S+ +yes/m);
    await print('instances set-default i1');
    await print('instances delete cli --yes');
    expect((await run('instances get cli')).code).toBe(4);
  });
});

describe('versions', () => {
  test('are compared by their files, as text and as paths', async () => {
    const manifest = 'type: node\nruntime: node\nfiles: ["**"]\n';
    const main = 'console.log(1);\n';
    await pushApp(server, 'compared', { 'app.yaml': manifest, 'main.mjs': main, 'old.txt': 'gone\n' });
    await print('versions create v1 --app compared');
    await pushApp(server, 'compared', {
      'app.yaml': manifest,
      'main.mjs': main.replace('1', '2'),
      'new\u001b[2J.txt': 'here\n',
    });
    await print('versions create v2 --app compared');
    const text = await print('versions diff v1 v2 --app compared');
    expect(text).toContain('-console.log(1);\n+console.log(2);');
    expect(text).toContain('--- a/old.txt\n+++ /dev/null');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it must be absent.
    expect(text).not.toMatch(/\u001b/);
    expect(await print('versions diff v1 v2 --app compared --name-only')).toMatch(
      /^changed +main.mjs\nadded +new\.txt\nremoved +old.txt\n$/,
    );
    expect(await print('versions diff v1 v1 --app compared')).toBe('The files are the same.\n');
    expect(await print('versions --app compared --quiet')).toBe('v2\nv1\n');
    expect(await print('versions update v2 --app compared --description Prints')).toMatch(
      /^description +Prints$/m,
    );
    expect((await run('versions update v2 --app compared')).code).toBe(2);
    await print('versions delete v1 --app compared --yes');
  });
});

describe('apps', () => {
  test('are deleted only after their id was typed, or with --yes', async () => {
    await print('apps create trial --description text');
    expect(await print('apps')).toMatch(/^trial /m);
    expect(await print('apps trust trial')).toMatch(/^HTML assets +trusted by root@localhost at 2/m);
    await print('apps update trial --objective result.value=minimize');
    expect((await run('apps update trial --objective result.value:maximize')).stderr).toContain(
      'Write result.value=maximize in place of result.value:maximize',
    );
    expect((await read('apps get trial')).objective).toMatchObject({ direction: 'maximize' });
    await print('apps update trial --objective none --baseline none');
    expect(await read('apps get trial')).toMatchObject({ objective: null, baseline_run_id: null });
    expect(await print('apps trust trial --off')).not.toContain('trusted');
    const refused = await run('apps delete trial', 'trail\n');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing was changed') });
    expect((await run('apps delete trial')).code).toBe(2);
    await print('apps delete trial', 'trial\n');
    expect((await run('apps get trial')).code).toBe(4);
  });
});

describe('secrets', () => {
  test('W5: in another encoding are refused with the position', async () => {
    writeFileSync(join(folder, 'latin'), Buffer.from('clé', 'latin1'));
    const refused = await run('secrets set latin KEY --from-file latin');
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('latin is not UTF-8 (byte 2 is 0xE9; it looks like Latin-1'),
    });
  });

  test('come from standard input or a file, and are never printed', async () => {
    await print('secrets set keys KEY', 'treasure\n');
    writeFileSync(join(folder, 'license'), 'file treasure\n');
    await print('secrets set keys etc/license --type file --from-file license');
    await print('secrets set keys KEY', 'new treasure');
    const { body } = await server.client.call('getSecretsCollection', {
      params: { application_id: app, collection_id: 'keys' },
    });
    expect(body.secrets).toEqual([
      { type: 'env', location: 'KEY', value: 'new treasure' },
      { type: 'file', location: 'etc/license', value: 'file treasure\n' },
    ]);
    for (const line of ['secrets list keys', 'secrets list keys --json', 'secrets'])
      expect(await print(line)).not.toContain('treasure');
    expect((await run('secrets set keys EMPTY')).code).toBe(2);
    await print('secrets delete keys KEY --yes');
    expect(await print('secrets list keys --quiet')).toBe('etc/license\n');
    await print('secrets delete keys --yes');
    expect(await print('secrets')).toBe('The application has no secrets.\n');
  });
});

describe('queue and workers', () => {
  test('a waiting run has its reason, and gets another priority', async () => {
    await print('instances create remote --version-id v1 --label nowhere');
    const id = await createRun(server, app, { input: {}, instance: 'remote' });
    const queue = await print('queue');
    expect(queue).toMatch(new RegExp(`^${id} +${app} +queued +6`, 'm'));
    expect(queue).toMatch(new RegExp(`^${id}  .*nowhere`, 'm'));
    await print(`queue priority ${id} 1`);
    expect((await read('queue')).runs).toMatchObject([{ id, queuing_priority: 1 }]);
    expect((await run(`queue priority ${id} 10`)).stderr).toContain('from 1 to 9');
    await server.client.call('cancelRun', { params: { application_id: app, run_id: id } });
  });

  test('a server without a provisioner says so', async () => {
    expect(await print('workers provisioner')).toContain('no provisioner is configured');
    expect(await read('workers provisioner')).toMatchObject({ adapter: 'none', jobs: { running: 0 } });
  });

  test('a provisioner has its jobs, and the reasons why they wait', async () => {
    // A server with the example of the contract, in place of one with a cluster.
    const cluster = createServer((_request, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(operations.getProvisioner.responses[200].example)),
    );
    await once(cluster.listen(0, '127.0.0.1'), 'listening');
    const { port } = cluster.address() as AddressInfo;
    const env = { SWITCHYARD_URL: `http://127.0.0.1:${port}`, SWITCHYARD_TOKEN: 'example' };
    const { stdout } = await runCommand(['workers', 'provisioner'], settings({ env }));
    cluster.closeAllConnections();
    cluster.close();
    expect(stdout).toMatch(/^cluster +slurm\nworkers +4 running, 2 pending, 0 stopping, at most 20$/m);
    expect(stdout).toMatch(/^pending: QOSMaxCpuPerUserLimit +2 jobs$/m);
  });

  test('a worker is drained and starts runs again; a token is created once', async () => {
    const [id] = (await print('workers --quiet')).trim().split('\n');
    await print(`workers drain ${id}`);
    expect(await print('workers')).toContain('draining');
    await print(`workers undrain ${id}`);
    expect(await print('workers')).toContain('active');
    const token = await print(['workers', 'tokens', 'create', 'Solver nodes', '--labels', 'gpu']);
    expect(token).toMatch(/^worker\.\S+\n$/);
    const tokenId = (await print('workers tokens --quiet')).trim();
    expect(await print('workers tokens')).toMatch(/Solver nodes +all +gpu/);
    await print(`workers tokens revoke ${tokenId}`);
    expect(await print('workers tokens')).toBe('The account has no worker tokens.\n');
  });
});

describe('accounts, sessions, members and keys', () => {
  test('an account is created with its first member, renamed by that, and deleted', async () => {
    const token = (await print('accounts create Night --email night@example.com')).trim();
    const env = { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: token };
    const renamed = await runCommand(['accounts', 'rename', 'Night shift'], settings({ env }));
    expect(renamed.stdout).toMatch(/^The name of account-\S+ is Night shift\.\n$/);
    const [, id = ''] = /^(account-\S+) +Night shift /m.exec(await print('accounts')) ?? [];
    expect((await runCommand(['accounts', 'delete', id, '--yes'], settings({ env }))).code).toBe(3);
    expect(await print(`accounts delete ${id}`, `${id}\n`)).toBe(`Deleted account ${id}.\n`);
    expect(await print('accounts --quiet')).not.toContain(id);
  });

  test('several ids that end with an unknown one: those before it are named, because they are gone', async () => {
    const file = join(folder, 'input.json');
    writeFileSync(file, '{}');
    for (const id of ['one', 'two']) await print(`inputs create ${id} --file ${file} --app ${app}`);
    const words = ['inputs', 'delete', 'one', 'one', 'none', 'two', '--app', app, '--yes'];
    const deleted = await runCommand(words, settings());
    expect(deleted).toMatchObject({ code: 4, stdout: '' });
    expect(deleted.stderr).toContain('Deleted one.\n');
    expect(await print(`inputs --app ${app} --quiet`)).toBe('two\n');
  });

  test('a member is not changed without a change', async () => {
    const unchanged = await runCommand(['members', 'update', 'root@localhost'], settings());
    expect(unchanged).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Nothing to change was given'),
    });
  });

  test('a session of the console is listed and ended', async () => {
    expect(await print('sessions')).toBe('Nobody is signed in to the console.\n');
    const authorization = `Bearer ${server.token}`;
    const headers = { authorization, origin: server.url, [CONSOLE_HEADER]: '1' };
    await server.client.call('createSession', { body: {}, headers });
    const [, id = ''] = /^(session-\S+) .* root /m.exec(await print('sessions')) ?? [];
    expect(await print(`sessions end ${id}`)).toBe(`Ended ${id}.\n`);
    expect(await print('sessions --quiet')).toBe('');
  });

  test('a member is invited, changed and removed by address', async () => {
    expect(await print('members invite bob@example.com --role operator')).toContain('/sign-up?invite=');
    expect(await print('members renew-invite Bob@example.com')).toContain('/sign-up?invite=');
    await print('members update bob@example.com --role viewer');
    expect(await print('members')).toMatch(/bob@example.com +viewer +open until/);
    expect(await print('members get bob@example.com')).toMatch(/^role +viewer\ninvite +open until /m);
    expect((await run('members delete bob@example.com')).stderr).toContain('give --yes');
    await print('members delete bob@example.com', 'bob@example.com\n');
    expect((await run('members update bob@example.com --role viewer')).code).toBe(4);
  });

  test('the token of a new key is all of standard output', async () => {
    const token = await print(['keys', 'create', 'nightly plans', '--role', 'viewer']);
    const { body } = await server.request('GET', '/v1/account', { token: token.trim() });
    const { id } = (body as { key: { id: string } }).key;
    expect(await print('keys')).toMatch(new RegExp(`^${id} +nightly plans +viewer`, 'm'));
    await print(`keys revoke ${id}`);
    expect(await print('keys --quiet')).not.toContain(id);
  });
});

describe('the marketplace', () => {
  test('has an app that one account publishes and another one subscribes to and runs', async () => {
    const { id: partner } = (await server.client.call('getAccount')).body;
    const { token } = await createOtherAccount(server, 'admin');
    const env = { SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: token };
    const asSubscriber = (line: string) => runCommand(line.split(' '), settings({ env }));
    await print('marketplace create quay --description berths --categories ports --features berths fast');
    await print([
      'marketplace',
      'versions',
      'create',
      'quay',
      'one',
      '--version-id',
      'v1',
      '--change',
      'First',
    ]);
    expect((await asSubscriber('marketplace')).stdout).toBe('The marketplace has no apps.\n');
    expect(await print('marketplace update quay --state released --title Quay')).toMatch(
      /^state +released$/m,
    );
    expect((await run('marketplace update quay')).code).toBe(2);
    await print([
      'marketplace',
      'versions',
      'update',
      'quay',
      'one',
      '--change',
      'First',
      '--change',
      'Fast',
    ]);
    const subscription = `${partner}-quay`;
    expect((await asSubscriber('marketplace')).stdout).toMatch(
      new RegExp(`^${subscription} +Quay .* released +one +berths$`, 'm'),
    );
    const seen = `--partner-id ${partner}`;
    expect((await asSubscriber(`marketplace list ${seen} --quiet`)).stdout).toBe(`${subscription}\n`);
    expect((await asSubscriber(`marketplace get quay ${seen}`)).stdout).toMatch(/^features +berths, fast$/m);
    expect((await asSubscriber(`marketplace versions list quay ${seen}`)).stdout).toMatch(
      /^one +First; Fast/m,
    );
    expect((await asSubscriber(`marketplace versions get quay one ${seen}`)).stdout).toMatch(
      /^changes +First/m,
    );

    const { stdout: application } = await asSubscriber(`subscriptions create ${subscription} --quiet`);
    expect((await asSubscriber(`versions --app ${application.trim()} --quiet`)).stdout).toBe('one\n');
    expect((await asSubscriber('subscriptions')).stdout).toMatch(/ active /);
    expect((await asSubscriber(`subscriptions get ${subscription}`)).stdout).toMatch(/^app +Quay$/m);
    expect((await asSubscriber(`subscriptions delete ${subscription}`)).code).toBe(2);
    expect((await asSubscriber(`subscriptions delete ${subscription} --yes`)).code).toBe(0);
    expect((await asSubscriber('subscriptions')).stdout).toContain('has no subscriptions');
  });
});

describe('usage, quotas and licences', () => {
  test('are read and changed one at a time', async () => {
    await print('quotas set --concurrent-runs 7');
    await print('quotas set --core-hours-per-month 100');
    expect(await read('quotas')).toMatchObject({ concurrent_runs: 7, core_hours_per_month: 100 });
    await print(`quotas set --app ${app} --concurrent-runs 3`);
    expect(await read(`quotas --app ${app}`)).toMatchObject({ concurrent_runs: 3 });
    await print('quotas set --concurrent-runs none --core-hours-per-month none');
    expect(await print('quotas')).toContain('of unlimited');
    await print('licenses set gurobi=4 cplex=2');
    await print('licenses delete cplex --yes');
    expect(await print('licenses')).toMatch(/^gurobi +0 +4/m);
    expect(await print('usage --group-by application')).toMatch(/^total/m);
    expect(await print('storage')).toMatch(new RegExp(`^${app} .* for ever$`, 'm'));
    expect((await read('storage')).items).toContainEqual(expect.objectContaining({ application_id: app }));
    expect(await print('cost-rate')).toBe('The account has no cost rate.\n');
    await print('cost-rate set 0.05 --currency EUR');
    expect(await print('cost-rate get')).toBe('A core hour costs 0.05 EUR.\n');
    expect(await print('usage')).toMatch(/^total .* €0\.00$/m);
    await print('cost-rate delete --yes');
    expect(await print('cost-rate --json')).toBe('null\n');
    expect((await run('cost-rate set free --currency EUR')).stderr).toContain('at least 0');
  });
});

describe('the audit log', () => {
  test('is listed by operation, and verified against an anchor', async () => {
    await waitUntil('entries are chained', async () => (await read('audit head')).number > 5);
    expect(await print('audit --operation setInstanceLock')).toMatch(/setInstanceLock +done/);
    const anchor = (await print('audit head')).trim();
    expect(await print(`audit verify --anchor ${anchor}`)).toMatch(
      /^\d+ entries, chain whole, last \d+:[0-9a-f]{64}\n$/,
    );
    const forged = anchor.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    const rewritten = await run(`audit verify --anchor ${forged}`);
    expect(rewritten).toMatchObject({ code: 1, stdout: expect.stringContaining('the chain was rewritten') });
    expect((await run('audit verify --anchor 1:x')).code).toBe(2);
  });

  test('with a changed or removed entry names it, also for an administrator of one account', async () => {
    const { token } = await server.createKey('admin');
    const verify = (all: boolean, change: (entries: AuditEntry[]) => AuditEntry[]) =>
      verifyAudit(
        createClient({
          url: server.url,
          token: all ? server.token : token,
          fetch: async (input, init) => {
            const response = await fetch(input, init);
            if (!String(input).includes('audit?')) return response;
            const body: { items: AuditEntry[] } = await response.json();
            return Response.json({ ...body, items: change(body.items) });
          },
        }),
        { anchor: null, all, signal: new AbortController().signal, onProgress: () => {} },
      );
    const { problem } = await verify(false, (entries) => entries);
    expect(problem).toBeNull();
    for (const all of [true, false])
      expect(
        await verify(all, (entries) =>
          entries.map((one) => (one.number === 5 ? { ...one, operation: 'getAccount' } : one)),
        ),
      ).toMatchObject({ problem: expect.stringMatching(/^Entry 5 .* was changed/) });
    expect(await verify(true, (entries) => entries.filter(({ number }) => number !== 5))).toMatchObject({
      entries: 4,
      problem: expect.stringContaining('Entry 5 is missing'),
    });
  });
});

describe('commands of the server’s machine', () => {
  test('list the backups with the problem of the last check', async () => {
    expect(await print('backups')).toBe('The server has no backups.\n');
    const bytes = { rows: 1, blobs: 2, bytes: 5_000_000, copied_bytes: 3_000_000 };
    const times = { made_at: Date.now() - 3_600_000, finished_at: Date.now(), verified_at: Date.now() };
    const problem = 'A blob is missing.';
    const backup = { id: 'backup-1', folder: '/backups/1', has_key: 1 as const, ...bytes, ...times, problem };
    await server.runningServer.database.transact((tx) => tx.insertInto('backups').values(backup).execute());
    expect(await print('backups')).toMatch(
      /^backup-1 +1 h ago +5\sMB +3\sMB +yes +A blob is missing\. +\/backups\/1$/m,
    );
  });

  test('run its programs with their arguments and exit code', async () => {
    const env = { PATH: process.env.PATH ?? '', SWITCHYARD_DATA: server.dataFolder };
    const ended = await runCommand(['restore', 'nothing', '--check'], settings({ env }));
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(join(folder, 'nothing')) });
  });
});
