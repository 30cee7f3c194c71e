import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Assets } from '../../ui/assets/asset-list.tsx';
import { assetsQuery, listAssetTabs } from '../../ui/assets/asset-query.ts';
import { usePageTitle } from '../../ui/page-title.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { RunAnswer } from './answer/run-answer.tsx';
import { ContentTab } from './content-tab.tsx';
import { useLiveRun } from './live/use-live-run.ts';
import { LogTab } from './log/log-tab.tsx';
import { type RunAddress, runQuery } from './queries.ts';
import { RunHeader } from './run-header.tsx';
import styles from './run-page.module.css';
import { getAssetTab, type RunSearch, type RunTab } from './search.ts';
import { RunCharts } from './summary/run-charts.tsx';
import { SummaryTab } from './summary/summary-tab.tsx';
import { useNeighborKeys } from './use-neighbor-keys.ts';
import { WorkflowTab } from './workflow/workflow-tab.tsx';

const route = { from: '/signed-in/apps/$application/runs/$run' } as const;

/** A run: its state and phases, its results and its log. */
export function RunPage() {
  const address = useParams(route);
  return <RunView key={`${address.application}/${address.run}`} address={address} />;
}

function RunView({ address }: { address: RunAddress }) {
  const { data: run } = useSuspenseQuery(runQuery(address));
  useLiveRun(address, run.status_v2);
  useNeighborKeys(address, run.created_at);
  const { baseline } = useSearch(route);
  usePageTitle(run.name || run.id, address.application);
  return (
    <>
      <RunHeader address={address} run={run} />
      {run.description !== '' && <p className={styles.description}>{run.description}</p>}
      <RunAnswer address={address} run={run} chosenBaseline={baseline} />
      <RunTabs address={address} run={run} />
    </>
  );
}

interface RunProps {
  address: RunAddress;
  run: RunInformation;
}

/** The parts of the run; assets that ask for a tab have one of their label. */
function RunTabs({ address, run }: RunProps) {
  const search = useSearch(route);
  const setSearch = useSetSearch();
  const { data } = useQuery({
    ...assetsQuery(address.application, address.run),
    enabled: isTerminal(run.status_v2),
  });
  const assets = data?.items ?? [];
  const assetTabs = listAssetTabs(assets).map((tab) => ({
    id: getAssetTab(tab.label),
    label: tab.label,
    content: <Assets application={address.application} assets={tab.assets} />,
  }));
  const renderContent = (part: 'input' | 'output') => (
    <ContentTab
      key={part}
      run={run}
      part={part}
      mode={search.mode}
      onSelectMode={(mode) => setSearch({ mode }, true)}
    />
  );
  const summary = (
    <SummaryTab
      address={address}
      run={run}
      assets={assets}
      baseline={search.baseline}
      onChooseBaseline={(baseline) => setSearch({ baseline }, true)}
    />
  );
  const log = (
    <LogTab
      // A run that ends keeps the log that was followed; the key is the run.
      key={run.id}
      address={address}
      run={run}
      search={search}
      onChange={(change) => setSearch(change, true)}
    />
  );
  return (
    <Tabs<RunTab>
      label="Parts of the run"
      selected={assetTabs.find(({ id }) => id === search.tab)?.id ?? toFixedTab(search.tab)}
      onSelect={(tab) => setSearch(tab === 'summary' ? { tab: undefined } : { tab })}
      tabs={[
        { id: 'summary', label: 'Summary', content: summary },
        ...(run.metadata.api_access
          ? [
              {
                id: 'workflow' as const,
                label: 'Workflow',
                content: <WorkflowTab address={address} run={run} />,
              },
            ]
          : []),
        {
          id: 'output',
          label: 'Output',
          detail: formatSize(run.output_size),
          content: renderContent('output'),
        },
        {
          id: 'input',
          label: 'Input',
          detail: formatSize(run.metadata.input_size),
          content: renderContent('input'),
        },
        { id: 'log', label: 'Log', content: log },
        { id: 'resources', label: 'Resources', content: <RunCharts address={address} source="resources" /> },
        ...assetTabs,
      ]}
    />
  );
}

const formatSize = (bytes: number): string => (bytes > 0 ? formatBytes(bytes) : '');

/** An asset tab that this run does not have is the summary. */
function toFixedTab(tab: RunTab = 'summary'): RunTab {
  return tab.startsWith('asset:') ? 'summary' : tab;
}

type SearchChange = { [Name in keyof RunSearch]: RunSearch[Name] | undefined };

/** Returns the function that changes search parameters; typing replaces the entry in the history. */
function useSetSearch(): (change: SearchChange, isReplacement?: boolean) => void {
  const navigate = useNavigate({ from: '/apps/$application/runs/$run' });
  return (change, isReplacement = false) => {
    void navigate({
      search: (previous) => {
        const { tab, find, mode, baseline, level, line, times, wrap } = { ...previous, ...change };
        return {
          ...(tab !== undefined && { tab }),
          ...(find !== undefined && { find }),
          ...(mode !== undefined && { mode }),
          ...(baseline !== undefined && { baseline }),
          ...(level !== undefined && { level }),
          ...(line !== undefined && { line }),
          ...(times !== undefined && { times }),
          ...(wrap !== undefined && { wrap }),
        };
      },
      replace: isReplacement,
      resetScroll: false,
    });
  };
}
