/** `npm run audit -- verify` while a server runs and after it was killed. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase } from '../../testing/database/postgres-server.ts';
import { waitUntil } from '../../testing/host/wait-until.ts';
import { startServerProcess } from '../../testing/servers/server-process.ts';
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

test('a restarted server chains the entries of a killed one, and verify works while it runs', async () => {
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
    const intact = { code: 0, output: `2 entries, chain whole, last 2:${head.hash}\n` };
    expect(await runVerifyCommand(['verify'], settings())).toEqual(intact);
    expect(await runVerifyCommand(['verify', '--anchor', `2:${head.hash}`], settings())).toEqual(intact);
  } finally {
    await server.kill();
  }
  // Verification also works while no server runs.
  for (const [anchor, message] of [
    [`2:${'0'.repeat(64)}`, 'the chain was rewritten'],
    [`3:${head.hash}`, 'before entry 3 of the anchor'],
  ] as const) {
    const { code, output } = await runVerifyCommand(['verify', '--anchor', anchor], settings());
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
  }
});

test.each([
  [[], 'Usage: '],
  [['check'], 'Usage: '],
  [['verify', '--anchor', '3'], '--anchor is "3"; it must be a number, a colon and a hash'],
  [['verify', '--depth', '3'], '--depth'],
])('rejects the arguments %j with the correct usage', async (args, message) => {
  await expect(runVerifyCommand(args, settings())).rejects.toThrow(message);
});

test('rejects a folder without a database and creates none', async () => {
  const nowhere = { SWITCHYARD_DATA: join(data, 'nowhere') };
  await expect(runVerifyCommand(['verify'], nowhere)).rejects.toThrow('There is no database at ');
  expect(existsSync(join(data, 'nowhere'))).toBe(false);
});
