import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { contentQuery } from '../../../ui/content/content-query.ts';
import { findViews } from '../../../ui/solution/find-views.ts';
import { getRunContentSource } from '../../../ui/solution/run-content.tsx';
import { SolutionView } from '../../../ui/solution/solution-view.tsx';
import { hasSmallOutput } from '../queries.ts';
import styles from './summary-tab.module.css';

/** The views of the solution of a run. Nothing for a large output, which its tab shows, and for one without a view. */
export function SolutionSection({ run }: { run: RunInformation }) {
  const source = getRunContentSource(run.application_id, run.id, 'output');
  const { data } = useQuery({ ...contentQuery(source), enabled: hasSmallOutput(run) });
  const found = useMemo(() => (data?.kind === 'json' ? findViews(data.value) : undefined), [data]);
  if (!found || found.views.length + found.problems.length === 0) return null;
  return (
    <section className={styles.section} aria-label="Solution">
      <SolutionView title="Solution" found={found} fileName={`${run.id}-output`} />
    </section>
  );
}
