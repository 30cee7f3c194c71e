/** Operations on workers: what each offers and executes, and how to drain it. */
import { hasRight } from '@switchyard/contract/roles.ts';
import type { ApplicationId } from '@switchyard/contract/schemas/ids.ts';
import type { Worker, WorkerRun, WorkerSlots } from '@switchyard/contract/workers/workers.ts';
import { managesServer } from '../../accounts/account/store.ts';
import { findApplicationNames } from '../../accounts/usage/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { forbidden, notFound, orThrow, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Committed } from '../../platform/http/handlers/commit.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, OperationCall, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { errorMessage } from '../../platform/log.ts';
import { listSlotHolders, type SlotHolder } from '../queue/queue-order.ts';
import { listPoolUse } from '../workers/slots.ts';
import { computeWorkerStatus } from '../workers/worker-status.ts';
import { listWorkers, setDraining, type WorkerDetails } from '../workers/workers.ts';

/** The caller and the time of a request for workers. */
interface View {
  caller: Caller;
  isManager: boolean;
  now: number;
  nameOf: (id: ApplicationId) => string;
}

export const getWorkers: OperationHandler<'getWorkers'> = async ({ database, clock, log }, { caller }) => {
  const isManager = await managesServer(database.read, caller.role);
  const workers = await listWorkers(database.read, (worker, error) =>
    log.error({ worker, error: errorMessage(error) }, 'Unreadable worker left out of a list.'),
  );
  const holders = await listSlotHolders(database.read);
  const nameOf = await nameApplications(database.read, caller, holders);
  const view = { caller, isManager, now: clock.now(), nameOf };
  return {
    status: 200,
    body: {
      items: await formatReadableRows(log, workers, (some) =>
        some.map((worker) => formatWorker(worker, holders, view)),
      ),
      may_drain: isManager && hasRight(caller.role, 'run'),
    },
  };
};

export const drainWorker: OperationHandler<'drainWorker'> = (context, call) =>
  changeDrain(context, call, true);

export const endWorkerDrain: OperationHandler<'endWorkerDrain'> = async (context, call) => {
  const committed = await changeDrain(context, call, false);
  context.database.notify('runs-queued');
  return committed;
};

/** Throws a 403 for a caller who would stop the runs of other accounts. */
async function requireManager(db: Reader, caller: Caller): Promise<void> {
  if (await managesServer(db, caller.role)) return;
  throw forbidden(
    'Workers execute the runs of all accounts of this server, so only root may drain one. Ask the operator of the server.',
  );
}

type DrainCall = Pick<OperationCall<'drainWorker' | 'endWorkerDrain'>, 'caller' | 'params' | 'commit'>;

/** Drains the worker, or ends that. Throws a 404 for an unknown worker, and a 403 for a caller who may not. */
async function changeDrain(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  { caller, params: { worker_id }, commit }: DrainCall,
  drains: boolean,
): Promise<Committed<{ status: 200; body: Worker }>> {
  await requireManager(database.read, caller);
  const now = clock.now();
  const committed = await commit(async (tx) => {
    const worker = orThrow(await setDraining(tx, worker_id, drains ? now : null), () =>
      notFound(
        `There is no worker ${quoteValue(worker_id)}; a restart gives a worker another id. List the workers.`,
      ),
    );
    const holders = await listSlotHolders(tx);
    const view = { caller, isManager: true, now, nameOf: await nameApplications(tx, caller, holders) };
    return { status: 200 as const, body: formatWorker(worker, holders, view) };
  });
  database.notify('workers-changed');
  return committed;
}

/** Returns a function that names the caller's applications that have a run. */
function nameApplications(db: Reader, { account }: Caller, holders: readonly SlotHolder[]) {
  const own = holders.filter((holder) => holder.account_id === account);
  return findApplicationNames(
    db,
    account,
    own.map((holder) => holder.application_id),
  );
}

function formatWorker(
  worker: WorkerDetails,
  allHolders: readonly SlotHolder[],
  { caller, isManager, now, nameOf }: View,
): Worker {
  const holders = allHolders.filter((holder) => holder.worker_id === worker.id);
  const own = holders.filter((holder) => holder.account_id === caller.account);
  return {
    id: worker.id,
    status: computeWorkerStatus(worker, now),
    host: isManager ? worker.host : '',
    kind: worker.kind,
    version: worker.version,
    started_at: formatRfc3339(worker.startedAt),
    heartbeat_at: formatRfc3339(worker.heartbeatAt),
    draining_since: worker.drainingAt === null ? null : formatRfc3339(worker.drainingAt),
    labels: [...worker.offer.labels],
    cores: worker.offer.resources?.cores ?? null,
    memory_bytes: worker.offer.resources?.memoryBytes ?? null,
    slots: countSlots(worker, holders),
    runs: own
      .sort((a, b) => (a.initiated_at ?? 0) - (b.initiated_at ?? 0))
      .map((holder) => formatRun(holder, nameOf)),
    other_runs: holders.length - own.length,
  };
}

function countSlots({ capacity }: WorkerDetails, holders: readonly SlotHolder[]): WorkerSlots[] {
  return listPoolUse(capacity, holders)
    .map(({ classes, slots, busy }) => ({ execution_classes: [...classes], slots, busy }))
    .filter(({ slots, busy }) => slots > 0 || busy > 0);
}

const formatRun = (holder: SlotHolder, nameOf: View['nameOf']): WorkerRun => ({
  run_id: holder.id,
  application_id: holder.application_id,
  application_name: nameOf(holder.application_id),
  execution_class: holder.execution_class,
  started_at: formatRfc3339(holder.initiated_at ?? 0),
});
