import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { describeError } from '../../../client/client.ts';
import { contentQuery } from '../../../ui/content/content-query.ts';
import { Notice } from '../../../ui/notice.tsx';
import { findViews } from '../../../ui/solution/find-views.ts';
import { getRunContentSource, RunContent } from '../../../ui/solution/run-content.tsx';
import { SolutionView } from '../../../ui/solution/solution-view.tsx';
import { hasSmallOutput } from '../queries.ts';
import styles from './summary-tab.module.css';

/**
 * The views of the solution of a run. The output itself answers for a run that reports no numbers and has no view. Nothing for
 * a large output, which its tab shows.
 */
export function SolutionSection({ run }: { run: RunInformation }) {
  const source = getRunContentSource(run.application_id, run.id, 'output');
  const { data, error } = useQuery({ ...contentQuery(source), enabled: hasSmallOutput(run) });
  const found = useMemo(() => (data?.kind === 'json' ? findViews(data.value) : undefined), [data]);
  if (error) return <Notice kind="error">The output cannot be read: {describeError(error)}</Notice>;
  if (!data) return null;
  if (!found || found.views.length + found.problems.length === 0)
    return (
      run.statistics.indicators.length === 0 && (
        <section className={styles.section} aria-labelledby="output">
          <h2 id="output">Output</h2>
          <RunContent application={run.application_id} run={run.id} part="output" />
        </section>
      )
    );
  return (
    <section className={styles.section} aria-label="Solution">
      <SolutionView title="Solution" found={found} fileName={`${run.id}-output`} />
    </section>
  );
}
