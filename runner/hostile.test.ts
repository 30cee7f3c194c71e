/** Runs each attack of the README.md tables in the strongest confinement of each level, as root and as an ordinary user. */
import { spawn } from 'node:child_process';
import { chownSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { findTool } from './process/command.ts';
import { ATTACK_MODES, CGROUP_ATTACK_MODES, readAttackTable } from './testing/attack-table.ts';
import { ATTACKS } from './testing/attacks.ts';
import { createScratchFolder, removeFolder, WITH_CGROUPS, WITH_DISKS } from './testing/runner-harness.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;
const folders: string[] = [];
const THIS = 'runner/hostile.test.ts';
/** A folder on a disk: in memory, where the other tests write, attacks on the space of the host end in other ways. */
const DISK_FOLDER = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
const tables = [ATTACK_MODES, CGROUP_ATTACK_MODES].map((modes) => ({
  modes,
  rows: readAttackTable<string>(THIS, modes),
}));
const WAYS: Record<string, string> = {
  'sandbox, root': `bubblewrap as root${WITH_DISKS}`,
  'sandbox, user': 'bubblewrap',
  'limits, root': `a pid namespace and own users${WITH_DISKS}`,
  'limits, user': 'a pid namespace',
  'sandbox, cgroups': `bubblewrap as root${WITH_DISKS}${WITH_CGROUPS}`,
  'limits, cgroups': `a pid namespace and own users${WITH_DISKS}${WITH_CGROUPS}`,
};

interface AttackerOutput {
  impossible?: true;
  host?: { containment: string };
  name?: string;
  result?: string;
  end?: { containment: string };
  left?: string[];
}

afterAll(() => {
  for (const folder of folders) removeFolder(folder);
});

test('the table has one row for every attack', () => {
  const [rows = [], withCgroups = []] = tables.map((table) => table.rows.map((row) => row.name).sort());
  expect(rows).toEqual(Object.keys(ATTACKS).sort());
  expect(rows).toEqual(expect.arrayContaining(withCgroups));
  expect(withCgroups).not.toEqual([]);
});

for (const { mode, rows } of tables.flatMap(({ modes, rows }) => modes.map((mode) => ({ mode, rows })))) {
  const asRoot = !mode.endsWith('user');
  // These confinements need root.
  describe.skipIf(asRoot && !isRoot)(mode, () => {
    const names = rows
      .filter((row) => row.cells[mode] !== 'not measured')
      .map((row) => row.name)
      .filter((name) => (ATTACKS[name]?.requiredTools ?? []).every((tool) => findTool(tool) !== undefined));

    test('V1, V2, V3, V6, V10: each attack ends as the table says and leaves no process', async (context) => {
      const way = WAYS[mode] ?? mode;
      const output = await attack(way, names, isRoot && !asRoot ? NOBODY : undefined);
      if (output === undefined) {
        console.warn(`\n!!! SKIPPED: this host cannot hold apps by ${way}.\n`);
        return context.skip(`this host cannot hold apps by ${way}`);
      }
      expect(output[0]?.host?.containment).toBe(mode.split(',')[0]);
      const ends = output.filter((one) => one.name !== undefined);
      const expected = rows.filter((row) => names.includes(row.name));
      const table = Object.fromEntries(expected.map((row) => [row.name, row.cells[mode]]));
      const found = Object.fromEntries(ends.map((one) => [one.name, one.result]));
      // Other tests use the same disk, memory and processors, so an attack that ends in another way is measured once again.
      const disturbed = ends.filter(({ name = '', result }) => result !== table[name]);
      for (const one of disturbed) {
        const name = one.name ?? '';
        console.warn(`\n!!! Measured again, alone, by ${way}: ${JSON.stringify(one)}\n`);
        const again = await attack(way, [name], isRoot && !asRoot ? NOBODY : undefined);
        found[name] = again?.find((each) => each.name === name)?.result;
      }
      expect(found).toEqual(table);
      for (const one of ends) expect(one.end?.containment).toBe(mode.split(',')[0]);
      expect(output.at(-1)).toEqual({ left: [] });
    });
  });
}

/** Returns the lines that the attacker fixture printed; undefined when the host does not support the confinement. */
async function attack(
  way: string,
  names: string[],
  user: number | undefined,
): Promise<AttackerOutput[] | undefined> {
  const folder = createScratchFolder(DISK_FOLDER);
  folders.push(folder);
  if (user !== undefined) chownSync(folder, user, user);
  const attacker = join(import.meta.dirname, 'testing/attacker.ts');
  const child = spawn(
    '/bin/bash',
    // Open descriptors, as a careless start script leaves them.
    [
      '--norc',
      '-c',
      'exec 9</ 77</etc/passwd 200</; exec "$@"',
      'bash',
      process.execPath,
      attacker,
      folder,
      way,
      JSON.stringify(names),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: '/',
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      ...(user === undefined ? {} : { uid: user, gid: user }),
    },
  );
  let stderrText = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderrText += chunk.toString();
  });
  const output: AttackerOutput[] = [];
  for await (const line of createInterface({ input: child.stdout }))
    output.push(JSON.parse(line) as AttackerOutput);
  if (output[0]?.impossible) return undefined;
  if (stderrText !== '') throw new Error(stderrText);
  return output;
}
