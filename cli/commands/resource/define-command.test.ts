/** Commands of an operation have the arguments and options that its schema allows. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Command } from '@commander-js/extra-typings';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSession } from '../../session/session.ts';
import { type CommandSettings, defineCommand } from './define-command.ts';

const requests: unknown[] = [];
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  requests.push([request.method, request.url, text === '' ? undefined : JSON.parse(text)]);
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ id: 'run-1', items: [] }));
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

/** Runs a command `do` of an operation, and returns what it printed. */
async function runCommand<Id extends 'updateRun' | 'createKey' | 'listAuditEntries'>(
  settings: CommandSettings<Id>,
  args: readonly string[],
): Promise<string> {
  let printed = '';
  const out = {
    write(text: string | Uint8Array) {
      printed += String(text);
    },
  };
  const session = createSession({
    ...{ out, err: out, in: process.stdin, cwd: '/', signal: new AbortController().signal },
    env: { SWITCHYARD_URL: url, SWITCHYARD_TOKEN: 'key', SWITCHYARD_APP: 'routing' },
  });
  const program = new Command('switchyard').exitOverride().configureOutput({ writeErr() {} });
  defineCommand(program, session, { name: 'do', ...settings });
  requests.length = 0;
  await program.parseAsync(['do', ...args], { from: 'user' });
  return printed;
}

const update: CommandSettings<'updateRun'> = {
  operation: 'updateRun',
  text: 'Change a run.',
  arguments: { run_id: ['<run>', 'The run.'] },
  options: { name: ['<name>', 'The name.'], queuing_priority: ['<number>', 'It.', { flag: '--priority' }] },
  isChange: true,
  done: ({ id }, { name }) => `Changed ${id} to ${name}.`,
};

test('path, query and body have the values, and the application of the command', async () => {
  expect(await runCommand(update, ['run-1', '--name', '', '--priority', '2'])).toBe('Changed run-1 to .\n');
  const body = { name: '', queuing_priority: 2 };
  expect(requests).toEqual([['PUT', expect.stringContaining('/applications/routing/runs/run-1'), body]]);
  const operation = ['<id>', 'The operation.'] as const;
  const list = { operation: 'listAuditEntries', text: 'List.', options: { operation }, print() {} } as const;
  await runCommand(list, ['--operation', 'deleteRun']);
  expect(requests).toEqual([['GET', expect.stringMatching(/audit\?operation=deleteRun$/), undefined]]);
});

test.each([
  ['a number out of the range', ['run-1', '--priority', '99'], 'from 1 to 9'],
  ['no change', ['run-1'], 'Give --name or --priority.'],
  ['no argument', [], "missing required argument 'run'"],
])('%s is refused without a request', async (_case, args, message) => {
  await expect(runCommand(update, args)).rejects.toThrow(message);
  expect(requests).toEqual([]);
});

test.each([
  ['an unknown value', ['k', '--role', 'king'], 'Allowed choices are'],
  ['a missing field without a default', ['k'], "required option '--role <role>'"],
])('%s is refused by the schema', async (_case, args, message) => {
  const create: CommandSettings<'createKey'> = {
    operation: 'createKey',
    text: 'Create a key.',
    arguments: { name: ['<name>', 'The name.'] },
    options: { role: ['<role>', 'The role.'] },
  };
  await expect(runCommand(create, args)).rejects.toThrow(message);
});
