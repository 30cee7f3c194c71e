/** The chaos test tests one version of the code: it restarts no server on another. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Cluster } from './cluster.ts';
import { CodeSnapshot } from './code-snapshot.ts';

let root = '';
const write = (path: string, text: string): void => writeFileSync(join(root, path), text);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'switchyard-code-'));
  for (const folder of ['server/ops/webhooks', 'contract', 'runner'])
    mkdirSync(join(root, folder), { recursive: true });
  write('server/ops/webhooks/schema.ts', 'export const version = 1;\n');
  write('package-lock.json', '{}\n');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test.each<[string, () => void, string | null]>([
  [
    'an edit',
    () => write('server/ops/webhooks/schema.ts', 'export const version = 2;\n'),
    'server/ops/webhooks/schema.ts',
  ],
  ['a new file', () => write('runner/new.ts', ''), 'runner/new.ts'],
  [
    'a removed file',
    () => rmSync(join(root, 'server/ops/webhooks/schema.ts')),
    'server/ops/webhooks/schema.ts',
  ],
  ['an install', () => write('package-lock.json', '{"packages":{}}\n'), 'package-lock.json'],
  ['a changed test', () => write('server/ops/webhooks/schema.test.ts', ''), null],
  ['a time without a change', () => utimesSync(join(root, 'server/ops/webhooks/schema.ts'), 1, 1), null],
])('%s is noticed if a server loads it', (_what, change, named) => {
  const code = new CodeSnapshot(root);
  change();
  if (named === null) code.assertUnchanged();
  else expect(() => code.assertUnchanged()).toThrow(`The code changed during the run (${named})`);
});

test('a killed server is not restarted on changed code', async () => {
  const folder = join(root, 'disk');
  mkdirSync(folder);
  const code = new CodeSnapshot(root);
  const cluster = new Cluster({
    folder,
    database: 'sqlite',
    disk: null,
    failingDisk: null,
    memory: null,
    code,
    onLog: () => {},
  });
  try {
    await cluster.start();
    write('server/ops/webhooks/schema.ts', 'export const version = 2;\n');
    await expect(cluster.front.restart('SIGKILL')).rejects.toThrow('server/ops/webhooks/schema.ts');
  } finally {
    await cluster.close();
  }
});
