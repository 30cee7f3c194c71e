/** The command, beside a server that runs, and after one that was killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase } from '../testing/database/postgres-server.ts';
import { waitUntil } from '../testing/host/wait-until.ts';
import { startServerProcess } from '../testing/servers/server-process.ts';
import { runVerifyCommand } from './verify-command.ts';

const postgres = inject('postgres');
const name = `verify_${process.pid}`;
let data: string;
let env: Record<string, string>;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'switchyard-verify-'));
  env = postgres ? { SWITCHYARD_DATABASE: await createDatabase(postgres, name) } : {};
});
afterAll(async () => {
  rmSync(data, { recursive: true, force: true });
  if (postgres) await dropDatabase(postgres, name);
});

const settings = () => ({ SWITCHYARD_DATA: data, ...env });

test('what was answered before a kill is chained after it, and verify says so while the server runs', async () => {
  const killed = await startServerProcess({ dataFolder: data, env });
  await killed.client.call('createApplication', { body: { id: 'kept', name: 'Kept' } });
  await killed.kill();
  const server = await startServerProcess({ dataFolder: data, env });
  let head: { number: number; hash: string };
  try {
    head = await waitUntil('both are chained', async () => {
      const { body } = await server.client.call('getAuditHead');
      return body.number === 2 && body;
    });
    const whole = { code: 0, said: `2 entries, chain whole, last 2:${head.hash}\n` };
    expect(await runVerifyCommand(['verify'], settings())).toEqual(whole);
    expect(await runVerifyCommand(['verify', '--anchor', `2:${head.hash}`], settings())).toEqual(whole);
  } finally {
    await server.kill();
  }
  // The database is looked at as well while no server runs.
  for (const [anchor, words] of [
    [`2:${'0'.repeat(64)}`, 'the chain was written anew'],
    [`3:${head.hash}`, 'before entry 3 of the anchor'],
  ] as const) {
    const { code, said } = await runVerifyCommand(['verify', '--anchor', anchor], settings());
    expect([code, said]).toEqual([1, expect.stringContaining(words)]);
  }
});

test.each([
  [[], 'Usage: '],
  [['check'], 'Usage: '],
  [['verify', '--anchor', '3'], '--anchor is "3"; it must be a number, a colon and a hash'],
  [['verify', '--depth', '3'], '--depth'],
])('of %j it says what would be right', async (args, words) => {
  await expect(runVerifyCommand(args, settings())).rejects.toThrow(words);
});

test('where there is no database it says so, and makes none', async () => {
  const nowhere = { SWITCHYARD_DATA: join(data, 'nowhere') };
  await expect(runVerifyCommand(['verify'], nowhere)).rejects.toThrow('There is no database at ');
});
