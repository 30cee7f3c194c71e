/** Cgroups of runs and of the server: location, delegation, and memory shortage. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { selectRunToEnd } from '../launcher/memory-guard.ts';
import { listCgroupHierarchies, listGroupAndAncestors } from '../process/cgroup-hierarchies.ts';
import { ATTACK_MODES, CGROUP_ATTACK_MODES, readAttackTable } from '../testing/attack-table.ts';
import {
  createScratchFolder,
  createShellApp,
  MIB,
  removeFolder,
  runApp,
  startRunnerConfinedBy,
  WITH_CGROUPS,
} from '../testing/runner-harness.ts';
import { waitUntil } from '../testing/wait-until.ts';
import { readPidNamespace } from './run-cgroups.ts';

const NOBODY = 65534;
const HOLDS_AS_ROOT = `bubblewrap as root${WITH_CGROUPS}`;
const folders: string[] = [];
const groups: string[] = [];
/** Controllers that this file has enabled for children of a group of version 2. */
const handedOn = new Map<string, string>();

afterAll(() => {
  for (const folder of folders) removeFolder(folder);
  for (const group of groups.reverse()) if (existsSync(group)) rmdirSync(group);
  for (const [file, controller] of handedOn) writeFileSync(file, `-${controller}`);
});

function scratch(): string {
  const folder = createScratchFolder();
  folders.push(folder);
  return folder;
}

/** Creates a group below the own one in the hierarchy with this controller; undefined when the host does not allow it. */
function groupWith(controller: string, version?: 1 | 2, ending = ''): string | undefined {
  const found = listCgroupHierarchies().find(
    (one) => one.controllers.includes(controller) && (version === undefined || one.version === version),
  );
  if (found === undefined || process.getuid?.() !== 0) return undefined;
  const folder = join(found.ownFolder, `test-${process.pid}-${groups.length}${ending}`);
  try {
    const control = join(found.ownFolder, 'cgroup.subtree_control');
    if (found.version === 2 && !readFileSync(control, 'utf8').includes(controller)) {
      writeFileSync(control, `+${controller}`);
      handedOn.set(control, controller);
    }
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  groups.push(folder);
  return folder;
}

/** Runs a fixture in the group; returns its output as parsed JSON. */
async function inGroup(group: string, fixture: string, args: string[], user?: number): Promise<unknown> {
  const script = 'echo $$ > "$0/cgroup.procs" && exec "$@"';
  const node = [process.execPath, join(import.meta.dirname, '..', 'testing', fixture), ...args];
  const asUser = ['setpriv', '--reuid', `${user}`, '--regid', `${user}`, '--clear-groups'];
  const child = spawn('/bin/sh', ['-c', script, group, ...(user === undefined ? [] : asUser), ...node], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once('close', (...how) => resolve(how)),
  );
  expect([code, signal]).toEqual([0, null]);
  const lines = Buffer.concat(chunks).toString().trim().split('\n');
  return lines.length === 1 ? JSON.parse(lines[0] ?? '') : lines.map((line) => JSON.parse(line));
}

const HYBRID = `35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw
`;

describe('the own groups', () => {
  const CASES: [what: string, mounts: string, own: string, found: string[]][] = [
    [
      'version 2 of systemd',
      '29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n',
      '0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope\n',
      [
        '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope',
        '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice',
        '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service',
        '/sys/fs/cgroup/user.slice/user-1000.slice',
        '/sys/fs/cgroup/user.slice',
        '/sys/fs/cgroup',
      ],
    ],
    [
      'a container with a namespace of its own',
      '900 890 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n',
      '0::/\n',
      ['/sys/fs/cgroup'],
    ],
    [
      'a container that sees its own part of version 1',
      '800 790 0:32 /docker/ab\\040c /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n',
      '4:memory:/docker/ab c/inner\n',
      ['/sys/fs/cgroup/memory/inner', '/sys/fs/cgroup/memory'],
    ],
    [
      'version 1 beside version 2',
      HYBRID,
      '4:memory:/a/b\n3:cpu,cpuacct:/\n1:name=systemd:/x\n0::/\n',
      [
        '/sys/fs/cgroup/memory/a/b',
        '/sys/fs/cgroup/memory/a',
        '/sys/fs/cgroup/memory',
        '/sys/fs/cgroup/cpu,cpuacct',
        '/sys/fs/cgroup/systemd/x',
        '/sys/fs/cgroup/systemd',
        '/sys/fs/cgroup/unified',
      ],
    ],
    ['no groups at all', '21 1 8:1 / / rw - ext4 /dev/sda1 rw\n', '', []],
  ];
  test.each(CASES)('%s', (_, mounts, own, found) => {
    const texts: Record<string, string> = { '/proc/self/mountinfo': mounts, '/proc/self/cgroup': own };
    expect(listCgroupHierarchies((path) => texts[path]).flatMap(listGroupAndAncestors)).toEqual(found);
  });
});

describe('V2: the run to end when memory is lost that no process shows', () => {
  const run = (name: string, knownMiB: number, possibleMiB: number) => ({
    name,
    estimateMemory: () => ({ knownBytes: knownMiB * MIB, upperBoundBytes: possibleMiB * MIB }),
  });
  const CASES: [
    what: string,
    unattributedMiB: number,
    runs: ReturnType<typeof run>[],
    ended: string | undefined,
  ][] = [
    [
      'without unattributed memory only the known counts',
      0,
      [run('small', 200, 9000), run('large', 300, 0)],
      'large',
    ],
    [
      'unattributed memory is divided in proportion to the upper bounds',
      3000,
      [run('innocent', 400, 40), run('hoard', 97, 9000)],
      'hoard',
    ],
    [
      'no run is blamed for more than its upper bound',
      9000,
      [run('few sockets', 100, 10), run('large', 300, 0)],
      'large',
    ],
    ['counted memory is not estimated', 3000, [run('counted', 500, 0), run('other', 400, 0)], 'counted'],
    ['ending small runs would not help', 50, [run('small', 30, 10), run('smaller', 20, 10)], undefined],
    ['nobody there', 3000, [], undefined],
  ];
  test.each(CASES)('%s', (_, unattributedMiB, runs, ended) => {
    expect(selectRunToEnd(runs, { unattributedBytes: unattributedMiB * MIB }, 128 * MIB)?.name).toBe(ended);
  });
});

test('V2, V10: the tables expect each of these attacks to be refused or bounded in a sandbox', () => {
  const names = [
    'memory in such files, sent over a socket and closed',
    'memory in page tables, by reading what was never written',
    'memory in buffers of sockets',
    'memory in pages given to pipes (vmsplice)',
    'being what the kernel ends last (oom_score_adj)',
    'leaving the core it was given',
  ];
  const cells = [
    ...readAttackTable<string>('runner/hostile.test.ts', ATTACK_MODES),
    ...readAttackTable<string>('runner/hostile.test.ts', CGROUP_ATTACK_MODES),
  ].filter(({ name }) => names.includes(name));
  expect(cells).toHaveLength(2 * names.length);
  for (const { cells: results } of cells)
    for (const [mode, result] of Object.entries(results))
      if (mode.startsWith('sandbox') || mode.endsWith('cgroups'))
        expect(result).toMatch(/^(refused|bounded)$/);
});

test('V2: a runner uses groups where the host has them, removes them, and cleans up after a dead runner', async (context) => {
  const found = groupWith('memory');
  const own = found === undefined ? '' : join(found, '..');
  const dead = spawnSync('/bin/true').pid;
  const home = join(own, `switchyard-0123456789abcdef-${dead}-${readPidNamespace()}`);
  const strange = join(own, `switchyard-0123456789abcdef-${dead}-1`);
  if (found === undefined) return context.skip('this host lets us make no memory cgroup');
  mkdirSync(join(home, 'run'), { recursive: true });
  mkdirSync(strange);
  groups.push(strange);
  const sleeper = spawn('/bin/sh', [
    '-c',
    'echo $$ > "$0" && exec sleep 600',
    join(home, 'run', 'cgroup.procs'),
  ]);
  const gone = new Promise((resolve) => sleeper.once('exit', (_, signal) => resolve(signal)));
  await waitUntil('it is in the group', () => readFileSync(join(home, 'run', 'cgroup.procs'), 'utf8') !== '');
  const runner = await startRunnerConfinedBy(HOLDS_AS_ROOT, scratch());
  if (runner === undefined) return context.skip('this host cannot hold apps by cgroups');
  expect(await gone).toBe('SIGKILL');
  expect(runner.host.enforcement.memory).toMatch(/^cgroup v[12] memory/);
  const { stdout, app } = await runApp(runner, {
    files: createShellApp('grep memory /proc/self/cgroup || cat /proc/self/cgroup'),
  });
  expect(stdout).toMatch(new RegExp(`/switchyard-[0-9a-f]{16}-${process.pid}-\\d+/t-`));
  await app.dispose();
  await runner.close();
  // Processes of another pid namespace are not visible here.
  const left = readdirSync(own).filter(
    (name) => name.includes(`-${dead}-`) || name.includes(`-${process.pid}-${readPidNamespace()}`),
  );
  expect(left).toEqual([basename(strange)]);
});

test('V2: an ordinary user limits the memory of runs by a delegated group', async (context) => {
  const group = groupWith('memory', 1);
  if (group === undefined) return context.skip('this host has no memory cgroup of version 1 for us');
  for (const name of ['', 'cgroup.procs', 'tasks']) chownSync(join(group, name), NOBODY, NOBODY);
  const folder = scratch();
  chownSync(folder, NOBODY, NOBODY);
  const names = JSON.stringify(['memory in such files, sent over a socket and closed']);
  const output = await inGroup(group, 'attacker.ts', [folder, `bubblewrap${WITH_CGROUPS}`, names], NOBODY);
  expect(output).toMatchObject([
    { host: { containment: 'sandbox', enforcement: { memory: expect.stringContaining('cgroup v1') } } },
    { result: 'bounded', end: { reason: 'memory' } },
    { left: [] },
  ]);
});

test('V2: in a delegated group of version 2 the server moves into a leaf group, so that its runs have controllers', async (context) => {
  const KNOBS: Record<string, string> = {
    memory: 'memory.max',
    pids: 'pids.max',
    hugetlb: 'hugetlb.2MB.max',
  };
  const all = listCgroupHierarchies().find(({ version }) => version === 2)?.controllers ?? [];
  const controller = Object.keys(KNOBS).find((name) => all.includes(name));
  // The group of a unit that systemd does not know is not delegated.
  for (const ending of ['', '.scope']) {
    const group = controller === undefined ? undefined : groupWith(controller, 2, ending);
    if (controller === undefined || group === undefined)
      return context.skip('this host lets us make no group of version 2 with a controller');
    const output = await inGroup(group, 'delegated-cgroup.ts', [controller, KNOBS[controller] ?? '']);
    expect(output).toEqual(
      ending === ''
        ? { held: [controller], before: group, after: join(group, 'switchyard-server') }
        : { held: [], before: group, after: group },
    );
    for (const name of readdirSync(group, { withFileTypes: true }).filter((one) => one.isDirectory()))
      rmdirSync(join(group, name.name));
  }
});

describe('V2: in a memory cgroup of the server', () => {
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  const CASES: [what: string, stepMs: number, small: string, error: RegExp][] = [
    [
      'the run that hides its memory ends, and a small one continues',
      25,
      'canceled',
      /memory cgroup of the server had .* left/,
    ],
    ['the kernel ends an app and never the server, when it is quicker than we are', 0, '', /memory/],
  ];
  test.runIf(hasPython).each(CASES)('%s', async (_, stepMs, small, error) => {
    const group = groupWith('memory', 1);
    if (group === undefined) return;
    writeFileSync(join(group, 'memory.limit_in_bytes'), String(1000 * MIB));
    const output = await inGroup(group, 'memory-shortage.ts', [
      scratch(),
      'bubblewrap as root',
      String(stepMs),
    ]);
    expect(output).toMatchObject({
      memoryBytes: 1000 * MIB,
      large: { reason: 'memory', error: expect.stringMatching(error), hostFault: true },
      small: { reason: expect.stringContaining(small) },
    });
  });
});

test('V10: without a sandbox and not as root, the host warns that apps have all rights of the server', () => {
  const folder = scratch();
  const asRoot = process.getuid?.() === 0;
  if (asRoot) chownSync(folder, NOBODY, NOBODY);
  const fixture = join(import.meta.dirname, '../testing/attacker.ts');
  const text = execFileSync(process.execPath, [fixture, folder, 'process groups', '[]'], {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: process.env.PATH },
    ...(asRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  const { host } = JSON.parse(text.split('\n')[0] ?? '');
  const plain = /who.*may push an app.*developer.*read and change its database, keys and files/;
  expect(host.containment).toBe('limits');
  expect(host.containmentReason).toMatch(plain);
  expect(host.notHeld[0]).toMatch(plain);
  expect(host.notHeld.join(' ')).toMatch(/an app can use every core/);
});
