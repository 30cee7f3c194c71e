import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { CopyButton } from '../../ui/copy-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ContentTab } from './content-tab.tsx';
import { LogTab } from './log/log-tab.tsx';
import { runQuery } from './queries.ts';
import { RunActions } from './run-actions.tsx';
import { RunFacts } from './run-facts.tsx';
import styles from './run-page.module.css';
import type { RunSearch, RunTab } from './search.ts';
import { SummaryTab } from './summary/summary-tab.tsx';
import { Timeline } from './timeline.tsx';

const route = { from: '/signed-in/apps/$application/runs/$run' } as const;

/** A run: its state and phases, its results and its log. */
export function RunPage() {
  const address = useParams(route);
  const { data: run } = useSuspenseQuery(runQuery(address));
  const search = useSearch(route);
  const setSearch = useSetSearch();
  usePageTitle(run.name || run.id, address.application);
  const selectTab = (tab: RunTab) => setSearch(tab === 'summary' ? { tab: undefined } : { tab });
  const renderContent = (part: 'input' | 'output') => (
    <ContentTab
      key={part}
      run={run}
      part={part}
      mode={search.mode}
      onSelectMode={(mode) => setSearch({ mode }, true)}
    />
  );
  return (
    <>
      <PageHeader
        title={
          <span className={styles.title}>
            <bdi>{run.name || run.id}</bdi>
            {run.name === '' && <CopyButton text={run.id} label="Copy run id" />}
            <StatusBadge status={run.status_v2} />
          </span>
        }
        description={
          run.name !== '' && (
            <span className={styles.id}>
              <code>{run.id}</code> <CopyButton text={run.id} label="Copy run id" />
            </span>
          )
        }
        actions={<RunActions address={address} run={run} />}
      />
      {run.description !== '' && <p className={styles.description}>{run.description}</p>}
      <RunFacts run={run} />
      <Timeline run={run} />
      <Tabs
        label="Parts of the run"
        selected={search.tab ?? 'summary'}
        onSelect={selectTab}
        tabs={[
          { id: 'summary', label: 'Summary', content: <SummaryTab address={address} run={run} /> },
          { id: 'output', label: 'Output', content: renderContent('output') },
          { id: 'input', label: 'Input', content: renderContent('input') },
          {
            id: 'log',
            label: 'Log',
            content: (
              <LogTab
                // A run that ends keeps the log that was followed; the key is the run.
                key={run.id}
                address={address}
                status={run.status_v2}
                find={search.find ?? ''}
                onFind={(find) => setSearch({ find: find === '' ? undefined : find }, true)}
              />
            ),
          },
        ]}
      />
    </>
  );
}

type SearchChange = { [Name in keyof RunSearch]: RunSearch[Name] | undefined };

/** Returns the function that changes search parameters; typing replaces the entry in the history. */
function useSetSearch(): (change: SearchChange, isReplacement?: boolean) => void {
  const navigate = useNavigate({ from: '/apps/$application/runs/$run' });
  return (change, isReplacement = false) => {
    void navigate({
      search: (previous) => {
        const { tab, find, mode } = { ...previous, ...change };
        return {
          ...(tab !== undefined && { tab }),
          ...(find !== undefined && { find }),
          ...(mode !== undefined && { mode }),
        };
      },
      replace: isReplacement,
      resetScroll: false,
    });
  };
}
