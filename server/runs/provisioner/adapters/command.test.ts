/** The command adapter with commands that keep a job as a file with its state. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createCommandAdapter } from './command.ts';
import { runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-command-'));
afterAll(() => rmSync(folder, { recursive: true }));

const COMMANDS = {
  start:
    'echo "$SWITCHYARD_WORKER_TOKEN $WORKER_LABELS $WORKER_ARGUMENTS" > call; echo pending > "$WORKER_NAME.job"; echo "submitted"; echo "id-$WORKER_NAME"',
  list: 'for file in "$WORKER_NAME_PREFIX"*.job; do name=$(basename $file .job); echo "$name id-$name $(cat $file)"; done',
  stop: 'echo "ended $WORKER_FORCE" > "$(echo $WORKER_ID | cut -c 4-).job"',
};
const create = (commands: Partial<typeof COMMANDS> = {}) => {
  const all = { ...COMMANDS, ...commands };
  const inFolder = (command: string): string => `cd '${folder}' && ${command}`;
  return createCommandAdapter(
    {
      kind: 'command',
      ...{ start: inFolder(all.start), list: inFolder(all.list), stop: inFolder(all.stop) },
      size: { cores: 1, memoryBytes: null },
    },
    { PATH: process.env.PATH },
  );
};
const REQUEST = {
  ...{
    name: 'yard-1',
    server: 'https://yard.example',
    token: 'secret',
    labels: ['gpu', 'a=b'],
    idleMs: 15_000,
    size: { cores: 4, memoryBytes: 16 * 2 ** 30 },
  },
};

test('commands start, list and stop jobs', async () => {
  const adapter = create();
  expect(await adapter.start(REQUEST)).toBe('id-yard-1');
  expect(readFileSync(join(folder, 'call'), 'utf8').trim()).toBe(
    'secret gpu,a=b --server https://yard.example --job yard-1 --idle 15 --cores 4 --memory 16384M --label gpu --label a=b',
  );
  const job = { name: 'yard-1', id: 'id-yard-1', pending: null, failure: null };
  expect(await adapter.list('yard-')).toEqual([{ ...job, state: 'pending' }]);
  await adapter.stop('id-yard-1', { force: true });
  expect(readFileSync(join(folder, 'yard-1.job'), 'utf8').trim()).toBe('ended 1');
  expect(await adapter.list('yard-')).toEqual([{ ...job, state: 'ended' }]);
  writeFileSync(join(folder, 'yard-1.job'), 'failed no such image');
  expect(await adapter.list('yard-')).toEqual([{ ...job, state: 'ended', failure: 'no such image' }]);
  writeFileSync(join(folder, 'yard-1.job'), 'pending no free machine');
  expect(await adapter.list('yard-')).toMatchObject([
    { state: 'pending', pending: { text: 'no free machine', isBlocked: false } },
  ]);
  writeFileSync(join(folder, 'yard-1.job'), 'blocked wrong zone');
  expect(await adapter.list('yard-')).toMatchObject([
    { state: 'pending', pending: { text: 'wrong zone', isBlocked: true } },
  ]);
  expect(await create({ list: 'echo other-1 id-other running' }).list('yard-')).toEqual([]);
});

test('a list that prints nothing at all is empty', async () => {
  expect(await create({ list: 'true' }).list('yard-')).toEqual([]);
});

test('a command without output leaves the name as the id', async () => {
  expect(await create({ start: 'true' }).start(REQUEST)).toBe('yard-1');
});

test.each([
  [
    'a failing command gives the end of its standard error',
    { list: 'echo no credentials >&2; exit 3' },
    /^sh ended with status 3: no credentials$/,
  ],
  [
    'W4: a pipe whose first command failed is no empty list',
    { list: "(echo 'no route to host' >&2; exit 1) | sort" },
    /^sh printed nothing, but on standard error: no route to host$/,
  ],
  [
    'a line of another form is quoted',
    { list: 'echo yard-1 id-1 thinking' },
    /^SWITCHYARD_COMMAND_LIST printed "yard-1 id-1 thinking"/,
  ],
])('%s', async (_, commands, message) => {
  await expect(create(commands).list('yard-')).rejects.toThrow(message);
});

test('a command that hangs is ended', async () => {
  const options = { env: process.env, timeoutMs: 50 };
  await expect(runCommand('sleep', ['60'], options)).rejects.toThrow('sleep was ended by SIGKILL');
  await expect(runCommand('/no/such/program', [], options)).rejects.toThrow('cannot be started');
});
