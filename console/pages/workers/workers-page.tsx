import type { Worker } from '@switchyard/contract/workers/workers.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { describeError } from '../../client/client.ts';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { ProvisionerStatus } from './provisioner-status.tsx';
import { provisionerQuery, useDrain, workersQuery } from './queries.ts';
import { buildWorkerColumns } from './worker-columns.tsx';
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
