import type { AuditEntry } from '@switchyard/contract/account/audit.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { AuditFilters } from './audit-filters.tsx';
import styles from './audit-page.module.css';
import { titleOperation } from './audited-operations.ts';
import { auditQuery } from './queries.ts';
import { VerifyButton } from './verify-button.tsx';

/** The audit log of the account: who did what to which resource. */
export function AuditPage() {
  usePageTitle('Audit log');
  const search = useSearch({ from: '/signed-in/account/audit' });
  const list = useSuspenseInfiniteQuery(auditQuery(search));
  const entries = list.data.pages.flatMap(({ items }) => items);
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Changes, reads of secrets, and refused calls, newest first."
      />
      <div className={styles.tools}>
        <AuditFilters filters={search} />
        <VerifyButton key={JSON.stringify(search)} entries={entries} />
      </div>
      {entries.length === 0 && !list.hasNextPage ? (
        <EmptyState title="No entry matches">
          <p>Remove a filter to see more entries.</p>
        </EmptyState>
      ) : (
        <AuditTable entries={entries} />
      )}
      <MoreRows list={list} count={entries.length} noun="entry" plural="entries" />
    </>
  );
}

function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <DataTable
      label="Audit log"
      rows={entries}
      columns={[
        {
          title: 'Operation',
          cell: ({ operation, outcome }) => (
            <>
              {titleOperation(operation)}
              {outcome === 'refused' && <strong className="bad"> refused</strong>}
            </>
          ),
          hover: ({ operation }) => operation,
          note: ({ number }) => number !== null && `entry ${number}`,
        },
        {
          title: 'Resource',
          onPhone: 'hidden',
          wraps: true,
          hover: ({ resource }) =>
            Object.entries(resource)
              .map(([name, id]) => `${name.replace(/_id$/, '')} ${id}`)
              .join(', '),
          cell: ({ resource }) =>
            Object.entries(resource).map(([name, id]) => (
              <span key={name}>
                {name.replace(/_id$/, '')}{' '}
                <ResourceId name={name} id={id} application={resource.application_id} />{' '}
              </span>
            )),
        },
        {
          title: 'Person',
          onPhone: 'plain',
          cell: ({ user_email }) => <bdi>{user_email}</bdi>,
          note: ({ key_name, role }) => (
            <>
              <bdi>{key_name}</bdi> {role}
            </>
          ),
        },
        { title: 'Address', onPhone: 'hidden', cell: ({ address }) => address },
        {
          title: 'Time',
          kind: 'number',
          onPhone: 'plain',
          cell: ({ created_at }) => <RelativeTime at={created_at} />,
        },
      ]}
    />
  );
}

/** The id of a resource; those of applications and runs lead to their pages. */
function ResourceId({
  name,
  id,
  application,
}: {
  name: string;
  id: string;
  application?: string | undefined;
}) {
  const code = <code>{id}</code>;
  if (name === 'application_id')
    return (
      <Link to="/apps/$application" params={{ application: id }}>
        {code}
      </Link>
    );
  if (name === 'run_id' && application !== undefined)
    return (
      <RunLink application={application} run={id}>
        {code}
      </RunLink>
    );
  return code;
}
