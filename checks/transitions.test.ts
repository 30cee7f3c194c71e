/** The law of status writes holds for this repository, and finds its examples of violations. */
import { describe, expect, test } from 'vitest';
import { isCode, readTextFiles } from './source-files.ts';
import { findStatusWrites } from './transition-laws.ts';

test('only the transition modules write a status', () => {
  expect(findStatusWrites(readTextFiles().filter(isCode))).toEqual([]);
});

describe('status writes', () => {
  test.each([
    "tx.updateTable('runs').set({ status: 'failed' });",
    "tx.updateTable('runs').set({ ...ending });",
    "tx.updateTable('runs').set(changes);",
    "tx.updateTable('runs').set((eb) => ({ 'status': eb.ref('status') }));",
    "tx.updateTable('runs').set((eb) => { return { status: 'failed' }; });",
    "tx.updateTable('runs').set({ ['status']: 'failed' });",
    "tx.updateTable('runs').set('status', 'failed');",
    "tx.updateTable('runs as r').set({ status: 'failed' });",
    "const query = tx.updateTable('runs'); query.set({ status: 'failed' });",
    "tx.updateTable('experiments').where('uid', '=', uid).set({ name });",
    "tx.updateTable('acceptance_tests').set({ passed: 1, status: 'completed' });",
    'tx.updateTable(table).set({ name });',
    "tx.insertInto('runs').values(run);",
    "tx.replaceInto('experiments').values(row);",
    "sql`update runs set status = 'failed'`.execute(tx);",
    'sql`INSERT INTO "experiments" (uid) values (1)`.execute(tx);',
  ])('%s is found', (text) => {
    const [first] = findStatusWrites([{ path: 'server/runs/queue/claim-runs.ts', text }]);
    expect(first).toMatch(
      /^server\/runs\/queue\/claim-runs\.ts:1 .*: write a status with a transition module/,
    );
  });

  test.each([
    ['server/runs/store/transitions.ts', "tx.updateTable('runs').set({ status: 'failed' });"],
    ['server/experiments/store/transitions.ts', "tx.insertInto('experiments').values(row);"],
    ['server/runs/store/runs.ts', "tx.updateTable('runs').set({ name, description }).where('id', '=', id);"],
    [
      'server/runs/store/runs.ts',
      "tx.updateTable('runs').set((eb) => ({ priority: eb('priority', '+', 1) }));",
    ],
    ['server/ops/webhooks/store.ts', "tx.insertInto('webhook_conversations').values({ status });"],
    ['server/runs/store/runs.ts', "sql`select id from runs where status = 'failed'`.execute(tx);"],
    ['server/runs/runs.test.ts', "tx.updateTable('runs').set({ status: 'failed' });"],
  ])('%s: %s is allowed', (path, text) => {
    expect(findStatusWrites([{ path, text }])).toEqual([]);
  });
});
