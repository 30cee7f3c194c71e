import { type AuditEntry, SERVER_ACTIONS } from '@switchyard/contract/account/audit.ts';
import { useQuery, useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { applicationSearchQuery } from '../../client/applications.ts';
import { listItems } from '../../client/list-items.ts';
import { operationQuery } from '../../client/queries.ts';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ChoiceEditor } from '../../ui/filters/choice-editor.tsx';
import { FilterChips } from '../../ui/filters/filter-chips.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import styles from './audit-page.module.css';
import { OPERATION_TITLES } from './operation-titles.ts';
import { auditQuery } from './queries.ts';
import { AUDIT_FILTERS, type AuditSearch } from './search.ts';
import { VerifyButton } from './verify-button.tsx';

/** Returns the title of an operation or of an action of the server; the name of one that this release does not know. */
const titleOperation = (id: string): string => OPERATION_TITLES[id] ?? SERVER_ACTIONS[id] ?? id;

/** The names of all actions of the log, those of the server itself among them. */
const AUDITED_OPERATIONS: readonly string[] = [
  ...Object.keys(OPERATION_TITLES),
  ...Object.keys(SERVER_ACTIONS),
].toSorted((one, other) => titleOperation(one).localeCompare(titleOperation(other)));

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

type FilterName = keyof AuditSearch;

interface EditorProps {
  value: string[];
  onChange: (values: string[]) => void;
}

const EDITORS: Record<FilterName, (props: EditorProps) => ReactNode> = {
  operation: (props) => (
    <ChoiceEditor {...props} isSingle choices={AUDITED_OPERATIONS} labelOf={titleOperation} />
  ),
  resource: ApplicationEditor,
  key_id: KeyEditor,
};

/** The filters of the audit log as chips. */
function AuditFilters({ filters }: { filters: AuditSearch }) {
  const [edited, setEdited] = useState<FilterName>();
  const navigate = useNavigate();
  const change = (name: FilterName, value: string | undefined) =>
    void navigate({ to: '/account/audit', search: { ...filters, [name]: value } });
  return (
    <FilterChips
      filters={AUDIT_FILTERS.map(({ name, label }) => {
        const value = filters[name] ?? '';
        return { name, label, text: name === 'operation' ? titleOperation(value) : value };
      })}
      edited={edited}
      onEdit={setEdited}
      onRemove={(name) => change(name, undefined)}
      renderEditor={(name) => {
        const Editor = EDITORS[name];
        return (
          <Editor
            value={[filters[name] ?? ''].filter(Boolean)}
            onChange={([value]) => {
              setEdited(undefined);
              change(name, value);
            }}
          />
        );
      }}
    />
  );
}

function ApplicationEditor(props: EditorProps) {
  const [text, setText] = useState('');
  const { data } = useQuery({ ...applicationSearchQuery(text), placeholderData: (before) => before });
  return <NamedEditor {...props} items={data?.items ?? []} onSearch={setText} />;
}

function KeyEditor(props: EditorProps) {
  const { data = [] } = useQuery(operationQuery('listKeys'));
  return <NamedEditor {...props} items={listItems(data)} />;
}

interface NamedEditorProps extends EditorProps {
  items: readonly { id: string; name: string }[];
  onSearch?: (text: string) => void;
}

/** Chooses one of the resources by its name, or a deleted one by its id. */
function NamedEditor({ items, ...props }: NamedEditorProps) {
  return (
    <ChoiceEditor
      {...props}
      isSingle
      mayType
      choices={items.map(({ id }) => id)}
      labelOf={(choice) => items.find(({ id }) => id === choice)?.name ?? choice}
    />
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
          onPhone: 'plain',
          wraps: true,
          hover: ({ resource }) =>
            Object.entries(resource)
              .map(([name, id]) => `${name.replace(/_id$/, '')} ${id}`)
              .join(', '),
          cell: ({ resource }) =>
            Object.entries(resource).map(([name, id]) => (
              <span key={name} className={styles.resource}>
                {name.replace(/_id$/, '')}{' '}
                <ResourceId name={name} id={id} application={resource.application_id} />
              </span>
            )),
        },
        {
          title: 'Person',
          onPhone: 'plain',
          cell: ({ user_email }) => <bdi>{user_email}</bdi>,
          note: ({ key_name, role }) => (
            <>
              <bdi>{key_name}</bdi>
              {key_name !== role && ` ${role}`}
            </>
          ),
        },
        { title: 'Address', onPhone: 'hidden', cell: ({ address }) => address },
        {
          title: 'Time',
          kind: 'number',
          onPhone: 'end',
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
