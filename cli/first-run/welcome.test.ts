/** `npm start` prints the root token at a terminal and not to a file. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const WELCOME = join(import.meta.dirname, 'welcome.ts');
const TOKEN = 'eyJhbGciOiJFZERTQSJ9.root.token';
const folder = mkdtempSync(join(tmpdir(), 'switchyard-welcome-'));
const tokenPath = join(folder, 'root-token');
writeFileSync(tokenPath, `${TOKEN}\n`);
// The first run has been made.
writeFileSync(join(folder, 'first-run.json'), '{}');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the output of the welcome, of a pseudo-terminal if `atTerminal`. */
function runWelcome(isFirstStart: boolean, atTerminal: boolean): string {
  const url = 'http://127.0.0.1:8080';
  const ready = {
    ...{ url, publicUrl: url, role: 'all', tokenPath, authorityPath: null, isFirstStart },
    ...{ containment: null, containmentNote: '', notHeld: [] },
  };
  const command = [process.execPath, WELCOME] as const;
  const [file, ...args] = atTerminal
    ? ['python3', '-c', 'import pty, sys; pty.spawn(sys.argv[1:])', ...command]
    : command;
  return execFileSync(file, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, SWITCHYARD_CONFIG: folder, SWITCHYARD_READY: JSON.stringify(ready) },
  });
}

test.each([
  ['the first start at a terminal prints it', true, true, `  token  ${TOKEN}`],
  ['the first start into a file names its path', true, false, `  token  kept in ${tokenPath}`],
  ['a later start names its path', false, true, `  token  kept in ${tokenPath}`],
])('V9: the root token: %s', (_, isFirstStart, atTerminal, line) => {
  const output = runWelcome(isFirstStart, atTerminal);
  expect(output).toContain(line);
  if (!line.includes(TOKEN)) expect(output).not.toContain(TOKEN);
});
