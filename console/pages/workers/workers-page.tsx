import { EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Worker, WorkerSlots } from '@switchyard/contract/workers/workers.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { useRight } from '../../ui/use-right.ts';
import { LabelList } from './label-list.tsx';
import { ProvisionerStatus } from './provisioner-status.tsx';
import { provisionerQuery, useDrain, workersQuery } from './queries.ts';
import { WorkerTokens } from './worker-tokens.tsx';
import styles from './workers-page.module.css';

/** The processes that execute runs: what they offer, what each runs, and the button that drains one. */
export function WorkersPage() {
  usePageTitle('Workers');
  const { data } = useSuspenseQuery(workersQuery);
  const { data: provisioner } = useSuspenseQuery(provisionerQuery);
  const drain = useDrain();
  const managesTokens = useRight('account');
  const { items, may_drain: mayDrain } = data;
  return (
    <>
      <PageHeader title="Workers" description={describeSlots(items)} />
      <ProvisionerStatus provisioner={provisioner} />
      {drain.isError && <Notice kind="error">{describeError(drain.error)}</Notice>}
      {items.length > 0 && items.every(({ status }) => status !== 'active') && (
        <div className={styles.notice}>
          <Notice kind="warning">No worker starts runs now. Queued runs wait until one is active.</Notice>
        </div>
      )}
      {items.length === 0 ? (
        <NoWorkers isProvisioned={provisioner.adapter !== 'none'} managesTokens={managesTokens} />
      ) : (
        <DataTable
          label="Workers"
          rows={items}
          columns={buildWorkerColumns(
            mayDrain
              ? ({ id, draining_since }) => drain.mutate({ id, isDraining: draining_since !== null })
              : undefined,
          )}
        />
      )}
      {managesTokens && <WorkerTokens />}
    </>
  );
}

function NoWorkers({ isProvisioned, managesTokens }: { isProvisioned: boolean; managesTokens: boolean }) {
  const advice = managesTokens
    ? 'Create a worker token, and start a worker with it on any machine that reaches this server.'
    : 'An administrator of the account can start one.';
  return (
    <EmptyState title="No worker is active">
      <p>
        {isProvisioned
          ? 'The server starts one when a run is queued.'
          : `Runs wait until a worker starts. ${advice}`}
      </p>
    </EmptyState>
  );
}

function describeSlots(workers: readonly Worker[]): string {
  const pools = workers.filter(({ status }) => status === 'active').flatMap(({ slots }) => slots);
  const slots = pools.reduce((sum, pool) => sum + pool.slots, 0);
  const busy = pools.reduce((sum, pool) => sum + pool.busy, 0);
  return `${busy} of ${slots} ${slots === 1 ? 'slot is' : 'slots are'} busy`;
}

const nameOf = ({ host, id }: Worker): string => host || id;

/** Returns the columns of the workers. `onDrain` drains a worker or ends its drain; it is absent when the person may not. */
function buildWorkerColumns(
  onDrain: ((worker: Worker) => void) | undefined,
): (DataColumn<Worker> | undefined)[] {
  return [
    {
      title: 'Worker',
      hover: nameOf,
      cell: (worker) => <bdi className={styles.host}>{nameOf(worker)}</bdi>,
      note: ({ id, host }) => (
        <span className={styles.id}>
          <code>{id}</code>
          <CopyButton text={id} label={`Copy the id of ${host || id}`} />
        </span>
      ),
    },
    {
      title: 'Offers',
      onPhone: 'hidden',
      hover: describeOffer,
      cell: describeOffer,
      note: ({ labels, version }) =>
        labels.length > 0 ? <LabelList labels={labels} /> : `Release ${version}`,
    },
    {
      title: 'Status',
      onPhone: 'plain',
      cell: ({ status }) => <StatusBadge status={status} />,
      note: (worker) => (
        <>
          Heartbeat <RelativeTime at={worker.heartbeat_at} />
        </>
      ),
    },
    {
      title: 'Busy slots',
      onPhone: 'plain',
      cell: (worker) => <Slots worker={worker} />,
      note: ({ slots }) => slots.map(describeClasses).join(', '),
    },
    {
      title: 'Runs',
      cell: (worker) => <WorkerRuns worker={worker} />,
      note: ({ runs: [first] }) =>
        first && (
          <>
            <bdi>{first.application_name}</bdi> · <RelativeTime at={first.started_at} />
          </>
        ),
    },
    onDrain && {
      title: 'Actions',
      kind: 'actions',
      cell: (worker) => {
        const isDraining = worker.draining_since !== null;
        return (
          <Button
            onPress={() => onDrain(worker)}
            aria-label={isDraining ? `End the drain of ${nameOf(worker)}` : `Drain ${nameOf(worker)}`}
          >
            {isDraining ? 'End drain' : 'Drain'}
          </Button>
        );
      },
    },
  ];
}

/** Returns the kind of a remote worker, its cores and its memory. */
function describeOffer({ kind, cores, memory_bytes: memory }: Worker): string {
  return [
    kind === 'remote' ? 'remote' : 'this server',
    cores !== null && formatCount(cores, 'core'),
    memory !== null && `${formatBytes(memory)} memory`,
  ]
    .filter(Boolean)
    .join(', ');
}

function Slots({ worker }: { worker: Worker }) {
  if (worker.slots.length === 0) return <span className="soft">None</span>;
  return (
    <div className={styles.slots}>
      {worker.slots.map((pool) => (
        <Meter
          key={pool.execution_classes.join()}
          label={`Busy slots of ${nameOf(worker)}, ${describeClasses(pool)}`}
          value={pool.busy}
          max={Math.max(pool.slots, pool.busy)}
          text={`${pool.busy} of ${pool.slots}`}
        />
      ))}
    </div>
  );
}

/** Returns the execution classes of the slots in words. */
function describeClasses({ execution_classes: classes }: WorkerSlots): string {
  if (classes.length === EXECUTION_CLASSES.length) return 'all classes';
  return classes.length === 1 ? classes.join() : `${classes.length} classes`;
}

/** The first run. The lanes of the queue have the others. */
function WorkerRuns({ worker: { runs, other_runs: others } }: { worker: Worker }) {
  const [first, ...more] = runs;
  if (!first && others === 0) return <span className="soft">None</span>;
  return (
    <>
      {first && (
        <RunLink application={first.application_id} run={first.run_id}>
          {first.run_id}
        </RunLink>
      )}{' '}
      {more.length > 0 && <Link to="/queue">and {more.length} more</Link>}
      {others > 0 && <span className="soft"> {others} of other accounts</span>}
    </>
  );
}
