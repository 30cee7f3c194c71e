/** The reference of the command line is built from the commands; here is what every command owes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../errors/exit-codes.ts';
import { describeCommands } from './describe-commands.ts';

const [program, ...commands] = describeCommands();

test('the description has the options of the program, and its commands in alphabetical order', () => {
  expect(program?.options.map(({ term }) => term)).toEqual(
    expect.arrayContaining(['--json', '-q, --quiet', '--profile <name>']),
  );
  const names = commands.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
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
