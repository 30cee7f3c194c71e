import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { describeError } from '../../client/client.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { NoRunYet } from '../../ui/resources/no-run-yet.tsx';
import { useRight } from '../../ui/use-right.ts';
import { ColumnChooser } from './column-chooser.tsx';
import { DEFAULT_COLUMNS, findColumns, listColumns } from './columns.ts';
import { FilterBar } from './filters/filter-bar.tsx';
import {
  hasFilter,
  parseRunsSearch,
  type RunFilters,
  type RunsSearch,
  readFilters,
} from './filters/runs-search.ts';
import { ViewsMenu } from './filters/views-menu.tsx';
import { NewRunsButton } from './new-runs-button.tsx';
import { runsQuery } from './queries.ts';
import { RunActions } from './run-actions.tsx';
import styles from './runs-page.module.css';
import { RunsTable } from './runs-table.tsx';
import { useSteadyRows } from './use-steady-rows.ts';

/** The runs of an application as a table. Filters, columns and selection are in the address. */
export function RunsPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/runs' });
  const search = useSearch({ from: '/signed-in/apps/$application/runs' });
  const change = useSearchChange();
  const mayRun = useRight('run');
  usePageTitle('Runs', application);
  const filters = readFilters(search);
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    runsQuery(application, filters),
  );
  const runs = data?.pages.flatMap((page) => page.runs) ?? [];
  const { rows, newCount, release } = useSteadyRows(runs, JSON.stringify([application, filters]));
  const visible = search.columns ?? DEFAULT_COLUMNS;
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
      <div className={styles.tools}>
        <ViewsMenu application={application} search={search} />
        <FilterBar
          filters={filters}
          onChange={(changed) => change({ ...search, ...changed, selected: undefined })}
        />
        <RunActions
          application={application}
          runs={runs.filter(({ id }) => selected.has(id))}
          onDone={() => change({ ...search, selected: undefined })}
        />
        <ColumnChooser
          columns={listColumns(runs, visible)}
          visible={visible}
          onChange={(columns) => change({ ...search, columns })}
        />
      </div>
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      {data && runs.length === 0 && !hasNextPage && <NoRuns application={application} filters={filters} />}
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
          runs={rows}
          columns={findColumns(visible)}
          selected={selected}
          sort={filters.sort}
          onSort={(sort) => change({ ...search, sort })}
          onSelect={(ids) => change({ ...search, selected: ids.size === 0 ? undefined : [...ids] })}
        />
      )}
      <p className={styles.more}>
        {hasNextPage ? (
          <Button onPress={() => fetchNextPage()} isDisabled={isFetchingNextPage}>
            {isFetchingNextPage ? 'Loading …' : runs.length > 0 ? 'Load more' : 'Search older runs'}
          </Button>
        ) : (
          rows.length > 0 && `${rows.length} ${rows.length === 1 ? 'run' : 'runs'}`
        )}
      </p>
    </>
  );
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
      search: isViewAlone ? { ...parsed, columns: DEFAULT_COLUMNS } : parsed,
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
