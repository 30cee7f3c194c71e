/** Completions: the script for bash in a real bash against a server, those for other shells where they are installed. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-completion-'));
const main = join(import.meta.dirname, '..', '..', 'main.ts');
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const id of ['routing', 'rostering', 'packing'])
    await server.client.call('createApplication', { body: { id, name: `Application ${id}` } });
  const { code, stdout } = await print('bash');
  expect(code).toBe(0);
  writeFileSync(join(folder, 'completion.bash'), stdout);
  const program = join(folder, 'switchyard');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(program, 0o755);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const print = (shell: string) => runCommand(['completion', shell], { cwd: folder });

/** Returns the completions of lines whose last word is completed, from one bash. */
async function completeInBash(lines: readonly string[]): Promise<string[][]> {
  const script = [
    `source '${join(folder, 'completion.bash')}'`,
    ...lines.flatMap((line) => {
      const words = line.split(' ');
      return [
        `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}`,
        '_switchyard',
        `echo "\${COMPREPLY[*]}"`,
      ];
    }),
  ].join('\n');
  const child = spawn('bash', ['--norc', '-euc', script], {
    env: {
      ...{ PATH: `${folder}:${process.env.PATH}`, HOME: folder, SWITCHYARD_CONFIG: folder },
      ...{ SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token },
    },
    cwd: folder,
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(err).toBe('');
  return out
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split(' ').filter(Boolean));
}

test('bash completes commands, options, choices, and applications of the server', async () => {
  const lines = {
    'switchyard inst': ['instances'],
    'switchyard instances set': ['set-default'],
    'switchyard workers tokens ': expect.arrayContaining(['create', 'list', 'revoke', '--json', '--app']),
    'switchyard keys create x --rol': ['--role'],
    'switchyard keys create x --role v': ['viewer'],
    // The value of an option is no command, also when it has the name of one.
    'switchyard --profile keys instances se': ['set-default'],
    'switchyard --app ro': ['rostering', 'routing'],
    'switchyard apps delete p': ['packing'],
    // A value without a list is left to the files.
    'switchyard login --authority ': [],
  };
  const completed = await completeInBash(Object.keys(lines));
  expect(completed.map((words) => words.sort())).toEqual(
    Object.values(lines).map((words) => (Array.isArray(words) ? words.sort() : words)),
  );
});

test('every shell has all commands; installed ones accept their script', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await print(shell);
    expect(code).toBe(0);
    for (const path of ['/instances/create', '/workers/tokens/revoke', '/audit/verify'])
      expect(stdout).toContain(path);
    const file = join(folder, `script.${shell}`);
    writeFileSync(file, stdout);
    if (shell === 'bash' || isInstalled(shell)) execFileSync(shell, ['-n', file]);
  }
  expect((await print('tcsh')).stderr).toContain('bash, zsh, fish');
});

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
