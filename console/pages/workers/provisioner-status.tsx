import type { Provisioner } from '@switchyard/contract/workers/provisioner.ts';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import styles from './workers-page.module.css';

const CLUSTERS: Record<Exclude<Provisioner['adapter'], 'none'>, string> = {
  command: 'by the commands of the operator',
  slurm: 'on Slurm',
  kubernetes: 'on Kubernetes',
};

/** The jobs that the provisioner has on a cluster, its last error, and the runs that it cannot serve. Empty without one. */
export function ProvisionerStatus({ provisioner }: { provisioner: Provisioner }) {
  const { adapter, max_workers: max, jobs, last_error_at: failedAt } = provisioner;
  if (adapter === 'none') return null;
  return (
    <section aria-label="Provisioner" className={styles.provisioner}>
      <p>
        The server starts up to {max} {max === 1 ? 'worker' : 'workers'} {CLUSTERS[adapter]} for queued runs:{' '}
        <strong>{jobs.running} running</strong>, {jobs.pending} pending
        {jobs.stopping > 0 && `, ${jobs.stopping} stopping`}. A worker without a run ends after{' '}
        {provisioner.idle_seconds} s.
      </p>
      {provisioner.pending_reasons.map((pending) => (
        <PendingReason key={pending.reason} pending={pending} />
      ))}
      {failedAt !== null && <ProvisionerError provisioner={provisioner} failedAt={failedAt} />}
      {provisioner.unservable_runs > 0 && (
        <Notice kind="warning">
          {describeUnservable(provisioner.unservable_runs)} Its size and labels are settings of the server.
        </Notice>
      )}
    </section>
  );
}

function PendingReason({ pending }: { pending: Provisioner['pending_reasons'][number] }) {
  const { reason, jobs, since, is_blocked: isBlocked } = pending;
  const subject = jobs === 1 ? '1 job' : `${jobs} jobs`;
  return (
    <Notice kind={isBlocked ? 'error' : 'info'}>
      {subject} {isBlocked ? 'cannot start' : jobs === 1 ? 'waits' : 'wait'} on the cluster, requested{' '}
      <RelativeTime at={since} />: {reason}
    </Notice>
  );
}

function ProvisionerError({ provisioner, failedAt }: { provisioner: Provisioner; failedAt: string }) {
  const { last_error: error, retry_at: retryAt, failed_starts: failedStarts } = provisioner;
  return (
    <Notice kind="error">
      {error ?? 'The last start of a worker failed. The operator of the server sees the reason.'} (
      <RelativeTime at={failedAt} />; failed starts: {failedStarts}
      {retryAt !== null && (
        <>
          ; next attempt <RelativeTime at={retryAt} />
        </>
      )}
      )
    </Notice>
  );
}

const describeUnservable = (runs: number): string =>
  runs === 1
    ? '1 queued run needs more than a worker of the provisioner offers.'
    : `${runs} queued runs need more than a worker of the provisioner offers.`;
