/** Completions: each script in its real shell, against a server. zsh and fish come from Debian's packages. */
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { installDebianPackages } from '@switchyard/server/testing/host/debian-packages.ts';
import { locateTestProgram } from '@switchyard/server/testing/servers/test-programs.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-completion-'));
const main = locateTestProgram('cli/main.ts');
const problem = await installDebianPackages(['zsh', 'fish'], ['/usr/bin/zsh', '/usr/bin/fish']);
if (problem !== null) process.stderr.write(`\nCOMPLETIONS NOT TESTED IN ZSH AND FISH: ${problem}\n\n`);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const id of ['routing', 'rostering', 'packing'])
    await server.client.call('createApplication', { body: { id, name: `Application ${id}` } });
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await print(shell);
    expect(code).toBe(0);
    writeFileSync(findScript(shell), stdout);
  }
  const program = join(folder, 'switchyard');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(program, 0o755);
  mkdirSync(join(folder, 'files'));
  writeFileSync(join(folder, 'files', 'authority.pem'), '');
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const print = (shell: string) => runCommand(['completion', shell], { cwd: folder });

const findScript = (shell: string) => join(folder, `completion.${shell}`);

/** Runs a shell whose commands are the arguments, in a folder with one file, and returns what it prints. */
async function runShell(shell: string, args: readonly string[]): Promise<string> {
  const child = spawn(shell, args, {
    env: {
      ...{ PATH: `${folder}:${process.env.PATH}`, HOME: folder, SWITCHYARD_CONFIG: folder, TERM: 'dumb' },
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...{ SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: server.token },
    },
    cwd: join(folder, 'files'),
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(err).toBe('');
  return out.replace(/\n$/, '');
}

/** Returns the candidates for the last word of each line, from one bash. */
async function completeInBash(lines: readonly string[]): Promise<string[][]> {
  const script = [
    `source '${findScript('bash')}'`,
    ...lines.flatMap((line) => {
      // As the line editor does: a word ends at an equals sign, which is a word.
      const words = line.split(/ |(?<==)|(?==)/);
      return [
        `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}`,
        '_switchyard',
        // Bash itself completes files where there is no candidate.
        `if (( \${#COMPREPLY[@]} )); then echo "\${COMPREPLY[*]}"; else echo *; fi`,
      ];
    }),
  ].join('\n');
  const out = await runShell('bash', ['--norc', '-euc', script]);
  return out.split('\n').map((line) => line.split(' '));
}

/**
 * Returns the candidates for the last word of each line, from the line editor of one zsh. The editor needs a
 * pseudo-terminal. The builtin `compadd` gets all candidates of a completion; here it also prints those that match.
 */
async function completeInZsh(
  lines: readonly string[],
  install = `source '${findScript('zsh')}'`,
): Promise<string[][]> {
  const startup = join(folder, 'startup.zsh');
  writeFileSync(
    startup,
    `stty -echo; PS1=
${install}
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  typeset -a hits; builtin compadd -A hits "$@"; print -nr -- "$hits "; builtin compadd "$@"
}
complete-line() { print -n '<begin>'; zle list-choices; print -n '<end>'; BUFFER=; }
zle -N complete-line; bindkey '^T' complete-line; print -n '<ready>'
`,
  );
  const script = `zmodload zsh/zpty
zpty shell zsh -f -i; zpty -w shell "source '${startup}'"; zpty -r -m shell out '*<ready>*'
for line in "$@"; do
  zpty -w -n shell "$line"$'\\x14'; zpty -r -m shell out '*<end>*'
  print -r -- \${\${out##*<begin>}%%<end>*}
done
zpty -d shell`;
  const out = await runShell('zsh', ['-f', '-c', script, 'zsh', ...lines]);
  return out.split('\n').map((line) => line.trim().split(/\s+/));
}

/** Returns the candidates for the last word of each line, from one fish. */
async function completeInFish(lines: readonly string[]): Promise<string[][]> {
  const script = `source '${findScript('fish')}'
for line in $argv; complete -C $line | string replace -r '\\t.*' '' | string join ' '; end`;
  const out = await runShell('fish', ['--no-config', '-c', script, ...lines]);
  return out.split('\n').map((line) => line.split(' '));
}

const CASES: Readonly<Record<string, readonly string[]>> = {
  'switchyard inst': ['instances'],
  'switchyard instances set': ['set-default'],
  'switchyard workers tokens cr': ['create'],
  'switchyard workers tokens --j': ['--json'],
  'switchyard keys create x --rol': ['--role'],
  'switchyard keys create x --role v': ['viewer'],
  'switchyard completion z': ['zsh'],
  // The value of an option is no command, also when it has the name of one.
  'switchyard --profile keys instances se': ['set-default'],
  'switchyard --profile=keys instances se': ['set-default'],
  'switchyard --app ro': ['rostering', 'routing'],
  'switchyard apps delete p': ['packing'],
  // The application is the last argument.
  'switchyard runs get run-1 p': ['packing'],
  'switchyard run --option duration p': ['packing'],
  'switchyard versions list ro': ['rostering', 'routing'],
  // A value without a list is a file.
  'switchyard login --authority ': ['authority.pem'],
};

test.for([
  ['bash', completeInBash],
  ['zsh', completeInZsh],
  ['fish', completeInFish],
] as const)(
  '%s completes commands, options, choices, applications of the server, and files',
  async ([shell, complete], { skip }) => {
    skip(problem !== null && shell !== 'bash', 'This shell is not installed.');
    const completed = await complete(Object.keys(CASES));
    expect(completed.map((words) => words.sort())).toEqual(Object.values(CASES));
  },
);

test.for([
  ['bash', completeInBash, 'viewer'],
  ['zsh', completeInZsh, 'viewer'],
  ['fish', completeInFish, '--role=viewer'],
] as const)('%s completes the value behind an equals sign', async ([shell, complete, value], { skip }) => {
  skip(problem !== null && shell !== 'bash', 'This shell is not installed.');
  expect(await complete(['switchyard keys create x --role=v'])).toEqual([[value]]);
});

test('bash completes no option behind the name in an option of the app', async () => {
  const lines = ['switchyard run --option duration=', 'switchyard run --option duration=-'];
  expect(await completeInBash(lines)).toEqual([['authority.pem'], ['authority.pem']]);
});

test('zsh completes the first time with the script as a file of fpath', async ({ skip }) => {
  skip(problem !== null, 'zsh is not installed.');
  const functions = join(folder, 'functions');
  mkdirSync(functions);
  copyFileSync(findScript('zsh'), join(functions, '_switchyard'));
  const install = `fpath=('${functions}' $fpath); autoload -Uz compinit; compinit -D`;
  expect(await completeInZsh(['switchyard inst'], install)).toEqual([['instances']]);
});

test('names the shells that have completions', async () => {
  expect((await print('tcsh')).stderr).toContain('bash, zsh, fish');
});
