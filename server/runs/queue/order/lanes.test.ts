/** F1: what an account queues hides no run of another one, and costs a bounded number of steps. */
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { LABEL_CHARS_MAX, LABELS_MAX, LICENSES_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceLicenses } from '../../../accounts/usage/licenses-store.ts';
import type { Database, Writer } from '../../../platform/database/database.ts';
import { insertQueuedRun } from '../../../testing/database/insert-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../../testing/database/test-database.ts';
import type { RunsTable } from '../../store/schema.ts';
import { SLOTS_ONLY, type WorkerOffer } from '../../workers/offers.ts';
import { claimRuns } from '../claim-runs.ts';
import { countRunsBefore } from '../places.ts';
import { formatRequirements } from '../run-requirements.ts';
import { listLanes } from './lanes.ts';

const NOW = 1_800_000_000_000;
const CROWD = 'crowd' as AccountId;
const OTHER = 'other' as AccountId;

let opened: TestDatabase;
let database: Database;
beforeEach(async () => {
  opened = await openTestDatabase();
  ({ database } = opened);
});
afterEach(() => opened.close());

let created = 0;
/** Queues a run with each of the columns, each a little later than the one before. */
async function queue(...all: Partial<RunsTable>[]): Promise<RunId[]> {
  const ids: RunId[] = [];
  await database.transact(async (tx) => {
    for (const columns of all) {
      created += 1;
      const { account_id = CROWD } = columns;
      ids.push(
        await insertQueuedRun(tx, {
          ...{ created_at: NOW + created, account_id, application_uid: `app-${account_id}`, ...columns },
        }),
      );
    }
  });
  return ids;
}
const requires = (requirements: { labels?: string[]; licenses?: Record<string, number> }) =>
  formatRequirements({ requirements });
const list = <Value>(count: number, create: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => create(index));
/** Runs that each need another label. */
const eachWithItsLabel = (count: number): Partial<RunsTable>[] =>
  list(count, (index) => requires({ labels: [`label-${String(index).padStart(5, '0')}`] }));

const claimIn = async (tx: Writer, workerId: string, offer: WorkerOffer): Promise<RunId[]> => {
  const claimed = await claimRuns(tx, {
    ...{ workerId, classes: EXECUTION_CLASSES, limit: 1, now: NOW, containment: 'sandbox', offer },
    workflowCapacity: [16, 16, 16],
  });
  return claimed.map(({ id }) => id);
};
const claim = (offer: Partial<WorkerOffer> = {}): Promise<RunId[]> =>
  database.transact((tx) => claimIn(tx, 'worker', { ...SLOTS_ONLY, ...offer }));

test('F1: a run with the largest requirements is queued and claimed', async () => {
  const name = (index: number): string => `${index}-`.padEnd(LABEL_CHARS_MAX, 'x');
  const labels = list(LABELS_MAX, name);
  const licenses = Object.fromEntries(list(LICENSES_MAX, name).map((one) => [one, 1]));
  await database.transact((tx) =>
    replaceLicenses(
      tx,
      CROWD,
      Object.keys(licenses).map((one) => ({ name: one, total: 1 })),
    ),
  );
  const ids = await queue(requires({ labels, licenses }));
  expect(await claim({ labels })).toEqual(ids);
});

test.each<[string, WorkerOffer, Partial<RunsTable>[]]>([
  ['labels', SLOTS_ONLY, eachWithItsLabel(600)],
  [
    'labels before a planned claim',
    { ...SLOTS_ONLY, resources: { cores: 64, memoryBytes: 1e12 } },
    eachWithItsLabel(600),
  ],
  ['licences that it has not', SLOTS_ONLY, list(600, (index) => requires({ licenses: { none: index + 1 } }))],
  [
    'one licence that it has not',
    SLOTS_ONLY,
    list(64, () => ({ ...requires({ licenses: { none: 1 } }), priority: 1 })),
  ],
])('F1: an account that waits for %s hides no run of another one', async (_, offer, crowd) => {
  await queue(...crowd);
  await database.transact((tx) => replaceLicenses(tx, OTHER, [{ name: 'gurobi', total: 1 }]));
  const [run] = await queue({ account_id: OTHER, ...requires({ labels: ['own'], licenses: { gurobi: 1 } }) });
  if (!run) throw new Error('Nothing is queued.');
  expect(await claim({ ...offer, labels: ['own'] })).toEqual([run]);
});

test('F1: the place of a run does not depend on what others require', async () => {
  await queue(...eachWithItsLabel(600));
  const [id] = await queue({ account_id: OTHER, ...requires({ labels: ['own'] }) });
  if (!id) throw new Error('Nothing is queued.');
  const request = { runs: [{ id }], classes: EXECUTION_CLASSES, workers: [] };
  const findBefore = await countRunsBefore(database.read, request, NOW);
  expect(findBefore({ id })).toBe(1);
});

test('F1: an account reaches its runs beyond any number of label sets, and lists take a bounded number of steps', async () => {
  await queue(...eachWithItsLabel(1_200));
  const [last] = await queue({ ...requires({ labels: ['zz'] }) });
  const [other] = await queue({ account_id: OTHER });
  const lanes = await listLanes(database.read);
  expect(lanes.length).toBeLessThanOrEqual(512);
  expect(lanes.map(({ id }) => id)).toContain(other);
  const claimed: RunId[] = [];
  for (let claims = 0; claims < 8; claims += 1) claimed.push(...(await claim({ labels: ['zz'] })));
  // The index of PostgreSQL has them in the order of their hashes.
  expect(new Set(claimed)).toEqual(new Set([last, other]));
});

test('F1: a claim locks no run that it does not start', async () => {
  const ids = await queue(...['x', 'y', 'z'].map((label) => requires({ labels: [label] })), {});
  const offer = { ...SLOTS_ONLY, labels: ['x', 'y', 'z'] };
  const claimed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const first = database.transact(async (tx) => {
    const own = await claimIn(tx, 'first', offer);
    claimed.resolve();
    await ended.promise;
    return own;
  });
  await claimed.promise;
  // SQLite has one transaction at a time.
  const others = list(3, (index) => async () => database.transact((tx) => claimIn(tx, `${index}`, offer)));
  if (database.kind === 'sqlite') ended.resolve();
  const started: RunId[] = [];
  for (const claimNext of others) started.push(...(await claimNext()));
  ended.resolve();
  expect([...(await first), ...started]).toEqual(ids);
});
