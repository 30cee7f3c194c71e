/** The reference of the command line is built from the commands; here is what every command owes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import { runCommand } from '../testing/run-command.ts';
import { describeCommands } from './describe-commands.ts';

const [program, ...commands] = describeCommands();

test('the description has the options of the program, and its commands by group and name', () => {
  expect(program?.options.map(({ term }) => term)).toEqual(
    expect.arrayContaining(['--json', '-q, --quiet', '--profile <name>']),
  );
  const groups = Map.groupBy(commands, ({ group }) => group);
  expect([...groups.keys()]).toEqual(['Start', 'Build', 'Run', 'Prove', 'Operate']);
  const names = [...groups.values()].flatMap((group) => group.map(({ name }) => name).toSorted());
  expect(commands.map(({ name }) => name)).toEqual(names);
  expect(names).toEqual(expect.arrayContaining(['login', 'push', 'runs', 'runs get', 'versions list']));
});

test.each(commands)(
  '"$name" has a description, an example of itself, and a sentence for each option',
  (command) => {
    expect(command.description).toMatch(/^[A-Z].*\.$/);
    // The example of the default command of a group may leave out its name, as everybody does.
    const name = command.name.replace(/ (list|get)$/, '');
    expect(command.example).toContain(`switchyard ${name}`);
    for (const { term, description } of command.options)
      expect(description, term).toMatch(/^[A-Z].*(\.|\))$/);
  },
);

test('the page of the commands lists all exit codes', () => {
  const page = join(import.meta.dirname, '../../site/content/using-switchyard/reference/cli/commands.md');
  const listed = [...readFileSync(page, 'utf8').matchAll(/^\| `(\d+)` /gm)].map(([, code]) => Number(code));
  expect(listed).toEqual(Object.values(EXIT_CODES));
});

test('the help of the program has a line for each command, and fits two screens of 40 lines', async () => {
  const { stdout } = await runCommand(['--help'], { cwd: '/', env: { COLUMNS: '100' } });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(80);
  for (const name of new Set(commands.map((one) => one.name.split(' ')[0])))
    expect(lines.filter((line) => line.startsWith(`  ${name} `))).toEqual([expect.stringMatching(/\.$/)]);
});

test('a command for one application takes its id as the last argument', () => {
  const takesOne = (name: string) =>
    commands.find((one) => one.name === name)?.arguments.at(-1)?.term === 'application';
  const ofApplication = ['push', 'run', 'runs', 'runs get', 'logs', 'versions list', 'instances create'];
  expect(
    [...ofApplication, 'experiments create batch', 'promote', 'secrets set'].filter(takesOne),
  ).toHaveLength(10);
  // A list of ids has no end, and an account has no application.
  expect(['runs delete', 'cancel', 'compare', 'keys list', 'workers list'].filter(takesOne)).toEqual([]);
});

test('every command that deletes has --yes, without which a script gets a refusal and nothing is deleted', async () => {
  const deleting = commands.filter(({ name }) => / delete$/.test(name));
  expect(deleting.length).toBeGreaterThan(14);
  for (const { name, options } of deleting)
    expect(
      options.map(({ term }) => term),
      name,
    ).toContain('--yes');
  // The question about a member comes after a request.
  for (const { name, usage } of deleting.filter((one) => one.name !== 'members delete')) {
    const ids = usage.match(/<[^>]+>/g)?.map(() => 'x') ?? [];
    // No server listens there: the refusal is before the first request.
    const env = { SWITCHYARD_URL: 'http://127.0.0.1:1', SWITCHYARD_TOKEN: 'x', SWITCHYARD_APP: 'routing' };
    const refused = await runCommand([...name.split(' '), ...ids], { cwd: '/', env });
    expect(refused, name).toMatchObject({ code: 2, stderr: expect.stringContaining('give --yes') });
  }
});
