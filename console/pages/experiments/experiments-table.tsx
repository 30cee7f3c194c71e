import { EXPERIMENTS, hasFact } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ListedExperiment } from '@switchyard/contract/experiments/presentation/list-experiments.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { Link } from '@tanstack/react-router';
import { VerdictBadge } from '../../ui/experiments/verdict-badge.tsx';
import progressBar from '../../ui/progress.module.css';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import table from '../../ui/table.module.css';
import styles from './experiments-page.module.css';

interface ExperimentsTableProps {
  application: string;
  experiments: readonly ListedExperiment[];
}

/** One row for each experiment, whose name links to its result. */
export function ExperimentsTable({ application, experiments }: ExperimentsTableProps) {
  return (
    <TableRegion label="List of experiments">
      <table className={table.table}>
        <TableHead texts={['Name', 'Type', 'Status', 'Verdict', 'Runs', 'Created']} />
        <tbody>
          {experiments.map((experiment) => (
            <Row
              key={`${experiment.type} ${experiment.id}`}
              application={application}
              experiment={experiment}
            />
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}

interface RowProps {
  application: string;
  experiment: ListedExperiment;
}

function Row({ application, experiment }: RowProps) {
  const { type, id, name, status, created_at, verdict } = experiment;
  return (
    <tr>
      <td className={styles.name}>
        <Link to="/apps/$application/experiments/$type/$id" params={{ application, type, id }}>
          <bdi>{name}</bdi>
        </Link>
        {name !== id && <code className={styles.id}>{id}</code>}
      </td>
      <td>{EXPERIMENTS[type].label}</td>
      <td>
        <StatusBadge status={status} />
      </td>
      <td className={styles.verdict}>{verdict === undefined ? '–' : <VerdictBadge verdict={verdict} />}</td>
      <td className={styles.progress}>
        <Progress experiment={experiment} />
      </td>
      <td>
        <RelativeTime at={created_at} />
      </td>
    </tr>
  );
}

function Progress({ experiment: { type, progress, status, name } }: { experiment: ListedExperiment }) {
  if (!progress) return '–';
  const { ended, requested, failed } = progress;
  return (
    <>
      {formatNumber(ended)} of {formatNumber(requested)}
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
