import {
  formatDuration,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunListCounts } from '@switchyard/contract/runs/run-counts.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { type Meaning, useMeaning } from '../../client/indicator-meaning.ts';
import { Answer, type AnswerNumber } from '../../ui/answer.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { storeRunOrder } from '../../ui/keyboard/run-order.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { NoRunYet } from '../../ui/resources/no-run-yet.tsx';
import { useOpenRun } from '../../ui/run-link.tsx';
import { useRight } from '../../ui/use-right.ts';
import { ColumnChooser } from './column-chooser.tsx';
import { ColumnMenu, NameMenu, readDirection } from './column-menu.tsx';
import {
  buildColumn,
  buildNameColumn,
  findColumns,
  findFilter,
  findSortField,
  listColumns,
  listDefaultColumns,
} from './columns.tsx';
import { type EditedFilter, FilterBar } from './filters/filter-bar.tsx';
import {
  hasFilter,
  parseRunsSearch,
  type RunFilters,
  type RunsSearch,
  readFilters,
  splitValues,
} from './filters/runs-search.ts';
import { ViewsMenu } from './filters/views-menu.tsx';
import { NewRunsButton } from './new-runs-button.tsx';
import { runCountsQuery, runsQuery } from './queries.ts';
import { RunActions } from './run-actions.tsx';
import styles from './runs-page.module.css';
import { useSteadyRows } from './use-steady-rows.ts';

/** The order of the server, written out. */
const DEFAULT_SORT = '-created_at';

/** The runs of an application as a table. Filters, columns and selection are in the address. */
export function RunsPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/runs' });
  const search = useSearch({ from: '/signed-in/apps/$application/runs' });
  const change = useSearchChange();
  const mayRun = useRight('run');
  usePageTitle('Runs', application);
  const meaning = useMeaning(application);
  const filters = readFilters(search);
  const list = useInfiniteQuery(runsQuery(application, filters));
  const runs = list.data?.pages.flatMap((page) => page.runs) ?? [];
  const { rows, newCount, release } = useSteadyRows(runs, JSON.stringify([application, filters]));
  const [edited, setEdited] = useState<EditedFilter>();
  const visible = search.columns ?? listDefaultColumns(meaning, filters.experiments === true);
  const setColumns = (columns: readonly string[]) => change({ ...search, columns: [...columns] });
  const selected = new Set(search.selected);
  return (
    <>
      <PageHeader
        title="Runs"
        quiet={
          <LinkButton kind="quiet" to="/apps/$application/logs" params={{ application }}>
            Search logs
          </LinkButton>
        }
        actions={
          mayRun && (
            <LinkButton kind="primary" to="/apps/$application/new-run" params={{ application }}>
              New run
            </LinkButton>
          )
        }
      />
      <RunsAnswer application={application} filters={filters} />
      <div className={styles.tools}>
        <FilterBar
          filters={filters}
          context={{ application, runs }}
          edited={edited}
          onEdit={setEdited}
          onChange={(changed) => change({ ...search, ...changed, selected: undefined })}
        />
        <div className={styles.views}>
          <ViewsMenu application={application} search={search} />
          <ColumnChooser
            columns={listColumns(runs, visible, meaning)}
            visible={visible}
            onChange={setColumns}
          />
        </div>
      </div>
      <RunActions
        application={application}
        runs={runs.filter(({ id }) => selected.has(id))}
        onDone={() => change({ ...search, selected: undefined })}
      />
      {list.error && <Notice kind="error">{describeError(list.error)}</Notice>}
      {list.data && runs.length === 0 && !list.hasNextPage && (
        <NoRuns application={application} filters={filters} />
      )}
      <NewRunsButton
        count={newCount}
        onPress={() => {
          release();
          showFirstRow();
        }}
      />
      {rows.length > 0 && (
        <RunsTable
          application={application}
          meaning={meaning}
          runs={rows}
          visible={visible}
          onColumns={setColumns}
          onFilter={setEdited}
          selected={selected}
          sort={filters.sort}
          onSort={(sort) => change({ ...search, sort })}
          onSelect={(ids) => change({ ...search, selected: ids.size === 0 ? undefined : [...ids] })}
        />
      )}
      <MoreRows list={list} count={rows.length} noun="run">
        <ExperimentRuns
          isShown={filters.experiments === true}
          onChange={(experiments) => change({ ...search, experiments, selected: undefined })}
        />
      </MoreRows>
    </>
  );
}

/** How many runs match the filters and what became of them; nothing for an application without runs. */
function RunsAnswer({ application, filters }: { application: string; filters: RunFilters }) {
  const { data } = useQuery({
    ...runCountsQuery(application, filters),
    placeholderData: keepPreviousData,
  });
  if (!data || (data.runs === 0 && !hasFilter(filters))) return null;
  return <Answer numbers={listNumbers(data, filters)} />;
}

/** Returns the numbers; a status that the filter excludes has none. */
function listNumbers(
  counts: RunListCounts,
  { status, experiments: hasExperiments }: RunFilters,
): AnswerNumber[] {
  const chosen = splitValues(status);
  const isListed = (one: RunStatusV2): boolean => chosen.length === 0 || chosen.includes(one);
  const { runs, is_complete: isComplete, statuses, median_execution_duration: medianMs } = counts;
  const ended = statuses.succeeded + statuses.failed;
  const scope = hasExperiments ? 'with those of experiments' : 'without those of experiments';
  const note = isComplete ? undefined : `of the newest ${formatNumber(runs)}`;
  return [
    {
      label: 'Runs',
      text: `${formatNumber(runs)}${isComplete ? '' : '+'}`,
      note: isComplete ? scope : `more than ${formatNumber(runs)}, ${scope}`,
    },
    isListed('failed') && {
      label: 'Failed',
      text: formatNumber(statuses.failed),
      note:
        ended > 0 && isListed('succeeded')
          ? `${formatPercent(statuses.failed / ended)} of ${formatNumber(ended)} that ended`
          : note,
    },
    isListed('running') && { label: 'Running', text: formatNumber(statuses.running), note },
    isListed('queued') && {
      label: 'Waiting',
      text: formatNumber(statuses.queued),
      note: statuses.queued > 0 ? <Link to="/queue">Queue</Link> : note,
    },
    medianMs !== null && {
      label: 'Usual run time',
      text: formatDuration(medianMs),
      note: `median of ${formatNumber(statuses.succeeded)} that succeeded`,
    },
  ].filter((one) => one !== false);
}

/** Says that runs of experiments are hidden, or hides them again. */
function ExperimentRuns({
  isShown,
  onChange,
}: {
  isShown: boolean;
  onChange: (isShown: true | undefined) => void;
}) {
  return (
    <>
      {isShown ? 'Runs of experiments are shown.' : 'Runs of experiments are hidden.'}{' '}
      <button type="button" className="text-button" onClick={() => onChange(isShown ? undefined : true)}>
        {isShown ? 'Hide them' : 'Show them'}
      </button>
    </>
  );
}

interface RunsTableProps {
  application: string;
  meaning: Meaning;
  runs: readonly Run[];
  /** Ids of the columns after the name. */
  visible: readonly string[];
  onColumns: (ids: readonly string[]) => void;
  onFilter: (edited: EditedFilter) => void;
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  /** The order of the server, as its query parameter. */
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
}

function RunsTable(props: RunsTableProps) {
  const { application, runs, selected, onSelect } = props;
  const openRun = useOpenRun();
  useEffect(
    () =>
      storeRunOrder(
        application,
        runs.map(({ id }) => id),
      ),
    [application, runs],
  );
  return (
    <DataTable
      label="Runs"
      rows={runs}
      columns={buildColumns(props)}
      selection={{
        label: 'Select all runs',
        selected,
        onSelect,
        nameOf: ({ name, id }) => name || id,
        describe: ({ name, id, status_v2 }) => `${name || id}, ${status_v2}`,
        onOpen: ({ id }) => openRun(application, id),
      }}
    />
  );
}

/** Returns the columns of the table, whose headers sort, filter, move and hide them. */
function buildColumns(props: RunsTableProps): DataColumn<Run>[] {
  const { application, meaning, visible, onColumns, onFilter, sort, onSort } = props;
  const columns = findColumns(visible, meaning);
  const ids = columns.map(({ id }) => id);
  const swap = (index: number, other: number) => {
    const [one, two] = [ids[index], ids[other]];
    if (other < 0 || one === undefined || two === undefined) return undefined;
    return () => onColumns(ids.with(index, two).with(other, one));
  };
  const name = {
    ...buildNameColumn(application),
    order: readDirection(sort, 'name'),
    header: <NameMenu sort={sort} onSort={onSort} onFilter={() => onFilter({ name: 'status' })} />,
  };
  const others = columns.map((column, index) => {
    const field = findSortField(column);
    const filter = findFilter(column);
    return {
      ...buildColumn(column, meaning),
      order: field === undefined ? undefined : readDirection(sort, field),
      header: (
        <ColumnMenu
          column={column}
          objective={meaning.objective}
          sort={sort}
          onSort={onSort}
          onFilter={filter && (() => onFilter(filter))}
          onHide={() => onColumns(ids.filter((id) => id !== column.id))}
          onMoveLeft={swap(index, index - 1)}
          onMoveRight={swap(index, index + 1)}
        />
      ),
    };
  });
  return [name, ...others];
}

/** Scrolls to the top and puts the focus on the newest run: the button that had it has gone. */
function showFirstRow(): void {
  window.scrollTo({ top: 0 });
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-index="0"]')?.focus());
}

/** Returns the function that replaces the search parameters of the page; an undefined one is removed. */
function useSearchChange() {
  const navigate = useNavigate({ from: '/apps/$application/runs' });
  return (search: { [Name in keyof RunsSearch]: RunsSearch[Name] | undefined }) => {
    const parsed = parseRunsSearch(search);
    // The id of a view alone would open the view again.
    const isViewAlone = parsed.view !== undefined && Object.keys(parsed).length === 1;
    return navigate({
      search: isViewAlone ? { ...parsed, sort: DEFAULT_SORT } : parsed,
      replace: true,
      resetScroll: false,
    });
  };
}

function NoRuns({ application, filters }: { application: string; filters: RunFilters }) {
  if (hasFilter(filters))
    return (
      <EmptyState title="No run matches the filters">
        <p>
          <Link to="/apps/$application/runs" params={{ application }}>
            Show all runs
          </Link>
        </p>
      </EmptyState>
    );
  return <NoRunYet application={application} />;
}
