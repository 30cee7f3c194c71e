import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQueries } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useMeaning } from '../../client/indicator-meaning.ts';
import { isActiveStatus } from '../../client/run-refetch.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { ContentChanges } from './changes/content-changes.tsx';
import { LogChanges } from './changes/log-changes.tsx';
import styles from './compare-page.module.css';
import { type ComparedRun, compareRuns, judgeRuns } from './compare-runs.ts';
import { ComparisonTable } from './comparison-table.tsx';
import { ObjectiveChart } from './objective-chart.tsx';
import { PlanView } from './plan/plan-view.tsx';
import { runQuery, usePlans } from './queries.ts';
import { RunChooser } from './run-chooser.tsx';
import { COMPARED_RUNS_MIN, type CompareSearch, listRunIds } from './search.ts';

/** Two to ten runs side by side: the answer in a sentence, then what differs, then everything else. */
export function ComparePage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/compare' });
  const search = useSearch({ from: '/signed-in/apps/$application/compare' });
  const navigate = useNavigate({ from: '/apps/$application/compare' });
  const ids = listRunIds(search.runs);
  const results = useQueries({ queries: ids.map((id) => runQuery(application, id)) });
  const listed = results.map(({ data, error }, index) => ({ id: ids[index] ?? '', run: data, error }));
  const runs = listed.flatMap(({ run }) => run ?? []);
  const count = ids.length === 2 ? 'two ' : ids.length > 2 ? `${ids.length} ` : '';
  const title = `Compare ${count}runs`;
  const hasError = results.some(({ error }) => error);
  usePageTitle(title, application);
  const change = (changes: CompareSearch) =>
    navigate({ search: { ...search, ...changes }, replace: changes.runs === undefined });
  return (
    <>
      <PageHeader
        title={title}
        description={
          ids.length < COMPARED_RUNS_MIN &&
          `Add ${ids.length === 0 ? 'two runs' : 'another run'} to compare them.`
        }
      />
      <RunChooser
        application={application}
        listed={listed}
        onChange={(chosen) => change({ runs: chosen.join(',') })}
      />
      {runs.length >= COMPARED_RUNS_MIN ? (
        <Comparison {...{ application, runs, search, change }} />
      ) : (
        hasError && (
          <p className={styles.unread}>Choose another run in the place of the one that cannot be read.</p>
        )
      )}
    </>
  );
}

interface ComparisonProps {
  application: string;
  runs: readonly ComparedRun[];
  search: CompareSearch;
  change: (changes: CompareSearch) => void;
}

function Comparison(props: ComparisonProps) {
  const { application, runs } = props;
  const meaning = useMeaning(application);
  const [a, b] = runs;
  const isActive = runs.some(({ metadata }) => isActiveStatus(metadata.status_v2));
  const { lead, outcome, rest } = judgeRuns(runs, meaning);
  const hasOtherInput = runs.some(({ metadata }) => metadata.input_size !== a?.metadata.input_size);
  return (
    <>
      {isActive ? (
        <Notice kind="info">A run has not ended yet. Its results appear when it has.</Notice>
      ) : (
        <p className={styles.verdict}>
          <bdi data-outcome={outcome}>{lead}</bdi>
          <bdi>{rest}</bdi>
        </p>
      )}
      {hasOtherInput && !isActive && (
        <Notice kind="info">
          The inputs of the runs differ, which may explain the change as well as options and versions.
        </Notice>
      )}
      {a && b && runs.length === 2 ? (
        <Parts {...props} a={a} b={b} isActive={isActive} />
      ) : (
        <Results {...props} />
      )}
    </>
  );
}

interface PartsProps extends ComparisonProps {
  a: ComparedRun;
  b: ComparedRun;
  isActive: boolean;
}

/** The parts of a comparison of two runs. Outputs and logs are complete when both runs have ended. */
function Parts({ a, b, isActive, ...props }: PartsProps) {
  const { application, runs, search, change } = props;
  const pair = usePlans(application, runs, search.view === 'output');
  const sides = { application, baseline: a.id, other: b.id };
  const tabs = [
    { id: 'results' as const, label: 'Results', content: <Results {...props} /> },
    {
      id: 'output' as const,
      label: pair ? 'Plan' : 'Output',
      content: (
        <>
          {pair && <PlanView pair={pair} />}
          <details open={!pair} className={styles.fold}>
            <summary>Everything in the output that differs</summary>
            <ContentChanges {...sides} part="output" />
          </details>
        </>
      ),
    },
    { id: 'input' as const, label: 'Input', content: <ContentChanges {...sides} part="input" /> },
    { id: 'log' as const, label: 'Log', content: <LogChanges {...sides} /> },
  ].filter(({ id }) => !isActive || id === 'results' || id === 'input');
  return (
    <Tabs
      label="Parts of the comparison"
      selected={tabs.find(({ id }) => id === search.view)?.id ?? 'results'}
      onSelect={(view) => change({ view })}
      tabs={tabs}
    />
  );
}

/** The tables of indicators, options and facts, and the curves of the objective. */
function Results({ application, runs, search, change }: ComparisonProps) {
  const meaning = useMeaning(application);
  const groups = compareRuns(runs, meaning);
  const showsEqual = search.all === true;
  const equal = groups.flatMap(({ rows }) => rows.filter(({ isEqual }) => isEqual)).length;
  const hasEnded = runs.every(({ metadata }) => isTerminal(metadata.status_v2));
  const visible = groups.map((group) => ({
    ...group,
    rows: showsEqual ? group.rows : group.rows.filter(({ isEqual }) => !isEqual),
  }));
  return (
    <>
      {visible.every(({ rows }) => rows.length === 0) && (
        <Notice kind="info">Facts, options and indicators of these runs are equal.</Notice>
      )}
      {visible.map((group) => (
        <Fragment key={group.name}>
          {(group.rows.length > 0 || group.name === 'Results') && (
            <ComparisonTable runs={runs} group={group}>
              {group.name === 'Results' && (
                <label className={styles.all}>
                  <input
                    type="checkbox"
                    checked={showsEqual}
                    onChange={({ target }) => change({ all: target.checked || undefined })}
                  />
                  Show {formatCount(equal, 'equal value')}
                </label>
              )}
            </ComparisonTable>
          )}
          {group.name === 'Results' && hasEnded && (
            <ObjectiveChart application={application} runs={runs} label={meaning.objective.label} />
          )}
        </Fragment>
      ))}
    </>
  );
}
