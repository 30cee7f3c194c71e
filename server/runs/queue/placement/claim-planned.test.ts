/** Claims of workers with labels, resources and a scope, and of runs with licences, on rows alone. */
import type { ExecutionClass } from '@switchyard/contract/execution-classes.ts';
import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import type { AccountId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replaceLicenses } from '../../../accounts/usage/licenses-store.ts';
import type { Database, Writer } from '../../../platform/database/database.ts';
import { RandomGenerator } from '../../../platform/random-generator.ts';
import { insertQueuedRun } from '../../../testing/database/insert-rows.ts';
import { openTestDatabase, type TestDatabase } from '../../../testing/database/test-database.ts';
import { listOrphanedRuns } from '../../store/leases.ts';
import type { RunsTable } from '../../store/schema.ts';
import { endRunningRun } from '../../store/transitions.ts';
import { SLOTS_ONLY, type WorkerOffer } from '../../workers/offers.ts';
import { deregisterWorker, registerWorker, setDraining, type Worker } from '../../workers/workers.ts';
import { claimRuns } from '../claim-runs.ts';
import { countUsedTokens, listTokenHolders } from '../license-use.ts';
import { requeueOrEnd } from '../requeue.ts';
import { formatRequirements } from '../run-requirements.ts';

const SMALL: ExecutionClass = '6c9500mb870s';
const MIDDLE: ExecutionClass = '8c16gb12h';
const LARGE: ExecutionClass = '16c60gb12h';
const ACCOUNT = 'account' as AccountId;
const OTHER = 'other' as AccountId;
const NOW = 1_800_000_000_000;

let opened: TestDatabase;
let database: Database;
beforeEach(async () => {
  opened = await openTestDatabase();
  ({ database } = opened);
});
afterEach(() => opened.close());

const buildWorker = (id: string, offer: WorkerOffer, slots = 4): Worker => ({
  ...{ id, folderId: id, capacity: { shared: slots, perClass: {} }, host: id, version: '', startedAt: NOW },
  ...{ kind: 'remote', offer, scratchBytes: null, tokenId: null, jobId: null, containment: 'limits' },
});

async function register(id: string, offer: WorkerOffer = SLOTS_ONLY, slots = 4): Promise<Worker> {
  const worker = buildWorker(id, offer, slots);
  await registerWorker(database, worker, NOW);
  return worker;
}

let created = 0;
/** Inserts queued runs, each a little later than the one before. */
async function queue(count: number, columns: Partial<RunsTable> = {}): Promise<RunId[]> {
  const ids: RunId[] = [];
  await database.transact(async (tx) => {
    for (let index = 0; index < count; index += 1) {
      created += 1;
      ids.push(await insertQueuedRun(tx, { created_at: NOW + created, ...columns }));
    }
  });
  return ids;
}

const requires = (requirements: { labels?: string[]; licenses?: Record<string, number> }) =>
  formatRequirements({ requirements });

const claimIn = (tx: Writer, { id, offer }: Worker, limit = 4): Promise<RunsTable[]> =>
  claimRuns(tx, {
    ...{ workerId: id, classes: EXECUTION_CLASSES, limit, now: NOW, containment: 'sandbox', offer },
    workflowCapacity: [16, 16, 16],
  });
const claim = async (worker: Worker, limit = 4): Promise<RunId[]> =>
  (await database.transact((tx) => claimIn(tx, worker, limit))).map(({ id }) => id);

const end = (tx: Writer, run: Pick<RunsTable, 'id' | 'application_uid' | 'fence'>) =>
  endRunningRun(tx, run, { status: 'succeeded', finished_at: NOW });

const resources = (cores: number, gigabytes: number) => ({
  ...SLOTS_ONLY,
  resources: { cores, memoryBytes: gigabytes * 1e9 },
});

describe('a worker', () => {
  test('with labels claims the runs that require them, and every worker those that require none', async () => {
    const plain = await register('plain');
    const labelled = await register('labelled', { ...SLOTS_ONLY, labels: ['gpu', 'region=eu', 'gp'] });
    const [both = ''] = await queue(1, requires({ labels: ['region=eu', 'gpu'] }));
    await queue(1, requires({ labels: ['region=us'] }));
    await queue(1, requires({ labels: ['pu'] }));
    const [none = ''] = await queue(1);
    expect(await claim(plain)).toEqual([none]);
    expect(await claim(labelled)).toEqual([both]);
  });

  test('with resources claims what fits beside its runs', async () => {
    const worker = await register('worker', resources(24, 80), 10);
    const [large = '', , small = ''] = [
      ...(await queue(1, { execution_class: LARGE })),
      ...(await queue(1, { execution_class: LARGE })),
      ...(await queue(1, { execution_class: SMALL })),
    ];
    // The second large one waits for the first; the small one ends before that by the limits of the classes.
    expect(await claim(worker)).toEqual([large, small]);
    expect(await claim(worker)).toEqual([]);
  });

  test('with resources claims nothing while it drains, and no more than its slots', async () => {
    const worker = await register('worker', resources(32, 200), 10);
    const ids = await queue(3, { execution_class: MIDDLE });
    await database.transact((tx) => setDraining(tx, worker.id, NOW));
    expect(await claim(worker)).toEqual([]);
    await database.transact((tx) => setDraining(tx, worker.id, null));
    expect(await claim(worker, 1)).toEqual(ids.slice(0, 1));
    expect(await claim(worker, 4)).toEqual(ids.slice(1));
  });

  test('that claims twice at the same time does not exceed its resources', async () => {
    const worker = await register('worker', resources(16, 64), 10);
    await queue(6, { execution_class: MIDDLE });
    const claims = await Promise.all([1, 2, 3].map(() => claim(worker)));
    expect(claims.flat()).toHaveLength(2);
  });

  test.each([
    ['an account', null, ['a', 'b']],
    ['an application', ['uid-b'], ['b']],
    ['two applications', ['uid-b', 'uid-c'], ['b']],
  ])('with the scope of %s claims its runs alone', async (_, applicationUids, expected) => {
    const worker = await register('worker', { ...SLOTS_ONLY, scope: { account: ACCOUNT, applicationUids } });
    await queue(1, { account_id: OTHER, application_uid: 'uid-c' });
    for (const name of ['a', 'b'])
      await queue(1, { id: `run-${name}` as RunId, application_uid: `uid-${name}` });
    expect(await claim(worker)).toEqual(expected.map((name) => `run-${name}`));
  });

  test('finds a run behind many that wait for licences or for labels', async () => {
    const worker = await register('worker', resources(16, 64));
    await queue(100, requires({ licenses: { gurobi: 1 } }));
    await queue(100, requires({ labels: ['gpu'] }));
    const [last = ''] = await queue(1);
    expect(await claim(worker)).toEqual([last]);
  });
});

test('a claim without labels, licences and resources executes as many statements as before', async () => {
  const worker = await register('worker');
  await queue(1);
  let statements = 0;
  await database.transact((tx) =>
    claimIn(
      tx.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          statements += 1;
          return result;
        },
      }) as Writer,
      worker,
    ),
  );
  // The lanes, the runs of one, the transition and its event.
  expect(statements).toBe(4);
});

describe('licence tokens', () => {
  const GUROBI = { account_id: ACCOUNT, name: 'gurobi' };
  const setTotal = (total: number) =>
    database.transact((tx) => replaceLicenses(tx, ACCOUNT, [{ name: 'gurobi', total }]));

  test('bound the runs of one account, and no run without them', async () => {
    const worker = await register('worker', SLOTS_ONLY, 10);
    await setTotal(3);
    const licensed = await queue(3, requires({ licenses: { gurobi: 2 } }));
    await queue(1, { account_id: OTHER, ...requires({ licenses: { gurobi: 1 } }) });
    const [plain = ''] = await queue(1);
    expect(await claim(worker, 10)).toEqual([licensed[0], plain]);
    expect(await claim(worker, 10)).toEqual([]);
    await setTotal(4);
    expect(await claim(worker, 10)).toEqual([licensed[1]]);
    // A total below the use starts nothing further, also after the end of one run.
    await setTotal(2);
    await database.transact(async (tx) => {
      const [run] = await listTokenHolders(tx);
      if (run) await end(tx, { id: run.id, application_uid: 'application', fence: 1 });
    });
    expect(await claim(worker, 10)).toEqual([]);
  });

  test('of a workflow that waits without a slot, and of a dead worker, stay in use', async () => {
    const [dead, other] = [await register('dead'), await register('other')];
    await setTotal(2);
    const runs = await queue(3, requires({ licenses: { gurobi: 1 } }));
    expect(await claim(dead)).toEqual(runs.slice(0, 2));
    await database.transact((tx) =>
      tx.updateTable('runs').set({ slot_released_at: NOW }).where('id', 'in', runs.slice(0, 1)).execute(),
    );
    await deregisterWorker(database, dead.id);
    expect(await claim(other)).toEqual([]);
    for (const orphan of await listOrphanedRuns(database.read, 10))
      await database.transact((tx) => requeueOrEnd(tx, orphan, { reason: 'it died.', now: NOW }));
    expect(await claim(other)).toEqual(runs.slice(0, 2));
  });

  test('with quotas of runs at once, both hold', async () => {
    const worker = await register('worker', SLOTS_ONLY, 10);
    await setTotal(5);
    await database.transact((tx) =>
      tx
        .insertInto('account_quotas')
        .values({ account_id: ACCOUNT, concurrent_runs: 2, core_hours: null })
        .execute(),
    );
    const [first, second] = await queue(4, requires({ licenses: { gurobi: 1 } }));
    const [ofOther] = await queue(1, { account_id: OTHER });
    // The accounts take turns.
    expect(await claim(worker, 10)).toEqual([first, ofOther, second]);
  });

  /** Checks at the only moments at which the use grows: in each transaction that claims, after its own statements. */
  test('are never exceeded by workers that claim at the same time, while runs end and workers die', async () => {
    const random = new RandomGenerator('licences');
    const pick = (count: number): number => Math.floor(random.uniform() * count);
    const connections = [database, await opened.connectAgain(), await opened.connectAgain()];
    const workers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => register(id, id === 'a' ? resources(64, 300) : SLOTS_ONLY)),
    );
    const runs = await queue(40);
    for (const id of runs)
      await database.transact((tx) =>
        tx
          .updateTable('runs')
          .set(requires({ licenses: { gurobi: 1 + pick(2) } }))
          .where('id', '=', id)
          .execute(),
      );
    let ended = 0;
    const claimAndCheck = (worker: Worker, connection: Database) =>
      connection.transact(async (tx) => {
        const claimed = await claimIn(tx, worker, 1 + pick(3));
        if (claimed.length === 0) return;
        const row = await tx.selectFrom('account_licenses').select('total').executeTakeFirst();
        expect(countUsedTokens(await listTokenHolders(tx), GUROBI)).toBeLessThanOrEqual(row?.total ?? 0);
      });
    const endOne = () =>
      database.transact(async (tx) => {
        const running = await tx.selectFrom('runs').selectAll().where('status', '=', 'running').execute();
        const run = running[pick(running.length)];
        if (run && (await end(tx, run))) ended += 1;
      });
    const loseWorker = async () => {
      const worker = workers[pick(workers.length)];
      if (!worker) return;
      await deregisterWorker(database, worker.id);
      for (const orphan of await listOrphanedRuns(database.read, 3))
        await database.transact((tx) =>
          requeueOrEnd(tx, { ...orphan, attempt: 0 }, { reason: 'it died.', now: NOW }),
        );
      await registerWorker(database, worker, NOW);
    };
    await setTotal(4);
    for (let round = 0; ended < runs.length && round < 400; round += 1) {
      const works = workers.map((worker) =>
        claimAndCheck(worker, connections[pick(connections.length)] ?? database),
      );
      if (pick(4) === 0) works.push(setTotal(2 + pick(4)));
      works.push(endOne());
      if (pick(5) === 0) works.push(loseWorker());
      await Promise.all(works);
    }
    expect(ended).toBe(runs.length);
  });
});
