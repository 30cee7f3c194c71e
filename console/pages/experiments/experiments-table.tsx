import { EXPERIMENTS, hasFact } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentSummary } from '@switchyard/contract/experiments/experiment-summaries.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { Link } from '@tanstack/react-router';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { VerdictBadge } from '../../ui/experiments/verdict-badge.tsx';
import progressBar from '../../ui/progress.module.css';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import styles from './experiments-page.module.css';

interface ExperimentsTableProps {
  application: string;
  experiments: readonly ExperimentSummary[];
}

/** One row for each experiment, whose name links to its result. */
export function ExperimentsTable({ application, experiments }: ExperimentsTableProps) {
  return (
    <DataTable
      label="List of experiments"
      rows={experiments}
      keyOf={({ type, id }) => `${type} ${id}`}
      columns={[
        {
          title: 'Name',
          hover: ({ name }) => name,
          cell: ({ type, id, name }) => (
            <Link to="/apps/$application/experiments/$type/$id" params={{ application, type, id }}>
              <bdi>{name}</bdi>
            </Link>
          ),
          note: ({ type, id, name }) =>
            name === id ? EXPERIMENTS[type].label : `${EXPERIMENTS[type].label}, ${id}`,
        },
        {
          title: 'Verdict',
          header: <span className={styles.verdicts}>Verdict</span>,
          onPhone: 'beside',
          hover: ({ verdict }) => verdict?.candidate,
          cell: ({ verdict }) =>
            verdict ? (
              <span className={styles.verdict}>
                <VerdictBadge verdict={verdict.word} />
                {verdict.word === 'best' && <bdi className="soft">{verdict.candidate}</bdi>}
              </span>
            ) : (
              '–'
            ),
        },
        { title: 'Status', onPhone: 'plain', cell: ({ status }) => <StatusBadge status={status} /> },
        {
          title: 'Runs',
          kind: 'number',
          cell: Progress,
        },
        { title: 'Created', onPhone: 'end', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
      ]}
    />
  );
}

function Progress({ type, status, name, ...runs }: ExperimentSummary) {
  const { number_of_runs: requested, number_of_completed_runs: ended, number_of_failed_runs: failed } = runs;
  return (
    <>
      {formatNumber(ended)}
      {requested > 0 && ` of ${formatNumber(requested)}`}
      {failed > 0 && <span className="bad">, {formatNumber(failed)} failed</span>}
      {status === 'started' && !hasFact(type, 'isLive') && (
        <progress
          className={`${progressBar.bar} ${styles.bar}`}
          value={ended}
          max={Math.max(requested, 1)}
          aria-label={`Ended runs of ${name}`}
        />
      )}
    </>
  );
}
