import { isTerminal } from '@switchyard/contract/states.ts';
import { useSuspenseQueries } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { isActiveStatus } from '../../client/run-refetch.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { ContentChanges } from './changes/content-changes.tsx';
import { LogChanges } from './changes/log-changes.tsx';
import styles from './compare-page.module.css';
import { type ComparedGroup, type ComparedRun, compareRuns } from './compare-runs.ts';
import { ComparisonTable } from './comparison-table.tsx';
import { ObjectiveChart } from './objective-chart.tsx';
import { runQuery } from './queries.ts';
import { RunChooser } from './run-chooser.tsx';
import { COMPARED_RUNS_MIN, type CompareSearch, listRunIds } from './search.ts';

/** Two to ten runs side by side: only what differs, unless the reader wants to see everything. */
export function ComparePage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/compare' });
  const search = useSearch({ from: '/signed-in/apps/$application/compare' });
  const navigate = useNavigate({ from: '/apps/$application/compare' });
  usePageTitle('Compare', application);
  const ids = listRunIds(search.runs);
  const runs: ComparedRun[] = useSuspenseQueries({
    queries: ids.map((id) => runQuery(application, id)),
  }).map(({ data }) => data);
  const change = (changes: CompareSearch) => navigate({ search: { ...search, ...changes } });
  return (
    <>
      <PageHeader title="Compare" />
      <RunChooser
        application={application}
        runs={runs}
        onChange={(chosen) => change({ runs: chosen.join(',') })}
      />
      {runs.length < COMPARED_RUNS_MIN ? (
        <Notice kind="info">
          Add a run to compare {runs.length === 0 ? 'two runs' : 'this run with it'}.
        </Notice>
      ) : (
        <>
          <label className={styles.all}>
            <input
              type="checkbox"
              checked={search.all === true}
              onChange={(event) =>
                navigate({
                  search: {
                    ...(search.runs !== undefined && { runs: search.runs }),
                    ...(event.target.checked && { all: true }),
                  },
                })
              }
            />
            Show equal values too
          </label>
          <Comparison application={application} runs={runs} showsEqual={search.all === true} />
        </>
      )}
    </>
  );
}

interface ComparisonProps {
  application: string;
  runs: readonly ComparedRun[];
  showsEqual: boolean;
}

function Comparison({ application, runs, showsEqual }: ComparisonProps) {
  const groups = compareRuns(runs).map(
    (group): ComparedGroup => ({
      ...group,
      rows: showsEqual ? group.rows : group.rows.filter(({ isEqual }) => !isEqual),
    }),
  );
  const [baseline, other] = runs;
  const haveEnded = runs.every(({ metadata }) => isTerminal(metadata.status_v2));
  return (
    <>
      {runs.some(({ metadata }) => isActiveStatus(metadata.status_v2)) && (
        <Notice kind="info">A run has not ended yet. Its results appear when it has.</Notice>
      )}
      {groups
        .filter(({ rows }) => rows.length > 0)
        .map((group) => (
          <ComparisonTable key={group.name} application={application} runs={runs} group={group} />
        ))}
      {groups.every(({ rows }) => rows.length === 0) && (
        <Notice kind="info">Facts, options and indicators of these runs are equal.</Notice>
      )}
      {haveEnded && <ObjectiveChart application={application} runs={runs} />}
      {runs.length === 2 && baseline && other && (
        <>
          <ContentChanges application={application} part="input" baseline={baseline.id} other={other.id} />
          {haveEnded && (
            <>
              <ContentChanges
                application={application}
                part="output"
                baseline={baseline.id}
                other={other.id}
              />
              <LogChanges application={application} baseline={baseline.id} other={other.id} />
            </>
          )}
        </>
      )}
      {runs.length > 2 && (
        <Notice kind="info">With two runs, the changes of input, output and log follow.</Notice>
      )}
    </>
  );
}
