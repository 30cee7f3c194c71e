import { useQuery } from '@tanstack/react-query';
import { describeError } from '../../../client/client.ts';
import { DiffTable } from '../../../ui/diff/diff-table.tsx';
import { Notice } from '../../../ui/notice.tsx';
import styles from '../compare-page.module.css';
import { logDiffQuery } from '../queries.ts';

interface LogChangesProps {
  application: string;
  /** The ids of the baseline and of the other run. */
  baseline: string;
  other: string;
}

/** The lines at which the logs of two ended runs differ. */
export function LogChanges({ application, baseline, other }: LogChangesProps) {
  const { data, error } = useQuery(logDiffQuery(application, baseline, other));
  return (
    <section aria-label="Log" className={styles.group}>
      <h2>Log</h2>
      {error ? (
        <Notice kind="error">{describeError(error)}</Notice>
      ) : data === undefined ? (
        <p className="soft">Loading …</p>
      ) : data === null ? (
        <p className="soft">The logs are too long, or differ too much, to compare them here.</p>
      ) : data.length === 0 ? (
        <p className="soft">No difference.</p>
      ) : (
        <DiffTable lines={data} />
      )}
    </section>
  );
}
