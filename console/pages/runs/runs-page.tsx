import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { ColumnChooser } from './column-chooser.tsx';
import { DEFAULT_COLUMNS, findColumns, listColumns } from './columns.ts';
import { FilterBar } from './filter-bar.tsx';
import { runsQuery } from './queries.ts';
import { RunActions } from './run-actions.tsx';
import styles from './runs-page.module.css';
import { hasFilter, parseRunsSearch, type RunFilters, type RunsSearch, readFilters } from './runs-search.ts';
import { RunsTable } from './runs-table.tsx';

/** The runs of an application as a table. Filters, columns and selection are in the address. */
export function RunsPage() {
  const { application } = useParams({ from: '/signed-in/apps/$application/runs' });
  const search = useSearch({ from: '/signed-in/apps/$application/runs' });
  const change = useSearchChange();
  usePageTitle('Runs', application);
  const filters = readFilters(search);
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    runsQuery(application, filters),
  );
  const runs = data?.pages.flatMap((page) => page.runs) ?? [];
  const visible = search.columns ?? DEFAULT_COLUMNS;
  const selected = new Set(search.selected);
  return (
    <>
      <PageHeader title="Runs" />
      <div className={styles.tools}>
        <FilterBar
          filters={filters}
          onChange={(changed) => change({ ...search, ...changed, selected: undefined })}
        />
        <RunActions
          application={application}
          runs={runs.filter(({ id }) => selected.has(id))}
          onDeleted={() => change({ ...search, selected: undefined })}
        />
        <ColumnChooser
          columns={listColumns(runs, visible)}
          visible={visible}
          onChange={(columns) => change({ ...search, columns })}
        />
      </div>
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      {data && runs.length === 0 && !hasNextPage && <NoRuns application={application} filters={filters} />}
      {runs.length > 0 && (
        <RunsTable
          application={application}
          runs={runs}
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
          runs.length > 0 && `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`
        )}
      </p>
    </>
  );
}

/** Returns the function that replaces the search parameters of the page; an undefined one is removed. */
function useSearchChange() {
  const navigate = useNavigate({ from: '/apps/$application/runs' });
  return (search: { [Name in keyof RunsSearch]: RunsSearch[Name] | undefined }) =>
    navigate({
      search: parseRunsSearch(search),
      replace: true,
      resetScroll: false,
    });
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
  return (
    <EmptyState
      title="No run yet"
      command={`curl -X POST "$SWITCHYARD_URL/v1/applications/${application}/runs" \\\n  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\\n  -d '{"input": {}}'`}
    >
      <p>A run executes the app on one input. Start the first one.</p>
    </EmptyState>
  );
}
