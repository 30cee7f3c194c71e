import type { AuditEntry } from '@switchyard/contract/account/audit.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import styles from './audit-page.module.css';
import { auditQuery } from './queries.ts';
import type { AuditSearch } from './search.ts';
import { VerifyButton } from './verify-button.tsx';

/** The audit log of the account: who did what to which resource. */
export function AuditPage() {
  usePageTitle('Audit log');
  const search = useSearch({ from: '/signed-in/account/audit' });
  const { data } = useSuspenseQuery(auditQuery(search));
  const { pagetoken, ...filters } = search;
  const next = data.next_page_token;
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Changes, reads of secrets, and refused calls, newest first."
      />
      <div className={styles.tools}>
        <Filters key={`filters ${JSON.stringify(filters)}`} filters={filters} />
        <VerifyButton key={`verification ${JSON.stringify(search)}`} entries={data.items} />
      </div>
      {data.items.length === 0 ? (
        <EmptyState title="No entry matches">
          <p>Remove a filter to see more entries.</p>
        </EmptyState>
      ) : (
        <AuditTable entries={data.items} />
      )}
      <p className={styles.pages}>
        {pagetoken !== undefined && (
          <Link to="/account/audit" search={filters}>
            Newest entries
          </Link>
        )}
        {next !== undefined && (
          <Link to="/account/audit" search={{ ...filters, pagetoken: next }}>
            Older entries
          </Link>
        )}
      </p>
    </>
  );
}

function Filters({ filters }: { filters: AuditSearch }) {
  const navigate = useNavigate();
  const [operation, setOperation] = useState(filters.operation ?? '');
  const [resource, setResource] = useState(filters.resource ?? '');
  const [keyId, setKeyId] = useState(filters.key_id ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const search = {
      ...(operation.trim() && { operation: operation.trim() }),
      ...(resource.trim() && { resource: resource.trim() }),
      ...(keyId.trim() && { key_id: keyId.trim() }),
    };
    void navigate({ to: '/account/audit', search });
  };
  return (
    <form className={styles.filters} onSubmit={submit}>
      <TextField label="Operation" value={operation} onChange={setOperation} />
      <TextField label="Application" value={resource} onChange={setResource} />
      <TextField label="Key id" value={keyId} onChange={setKeyId} />
      <Button type="submit">Filter</Button>
    </form>
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
              {operation}
              {outcome === 'refused' && <strong className="bad"> refused</strong>}
            </>
          ),
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
