import type { AccountShare } from '@switchyard/contract/account/share-links.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { createNumberColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { RevokeShareDialog } from '../../ui/destruction/revoke-share-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { MoreMenu } from '../../ui/menu.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { sharesQuery } from './queries.ts';
import styles from './shares-page.module.css';

const EXAMPLE = formatCurl('createShare', {
  params: { application_id: 'APPLICATION', run_id: 'RUN' },
  body: { parts: ['summary', 'output'], expires_in_hours: 24 },
});

/** The share links of all runs of the account, with their views; administrators revoke them here. */
export function SharesPage() {
  usePageTitle('Share links');
  const search = useSearch({ from: '/signed-in/account/shares' });
  const { data } = useSuspenseQuery(sharesQuery(search));
  const [revoked, setRevoked] = useState<AccountShare>();
  const next = data.next_page_token;
  const isFirst = search.pagetoken === undefined;
  return (
    <>
      <PageHeader
        title="Share links"
        description="Everyone who has one of these links can read the chosen parts of a run without signing in."
      />
      {data.items.length > 0 && <SharesTable shares={data.items} onRevoke={setRevoked} />}
      {revoked && (
        <RevokeShareDialog
          application={revoked.application_id}
          run={revoked.run_id}
          share={revoked}
          onClose={() => setRevoked(undefined)}
        />
      )}
      {data.items.length === 0 && isFirst && (
        <EmptyState title="No run is shared" command={EXAMPLE}>
          <p>Press Share on the page of a run, or create a link by the API:</p>
        </EmptyState>
      )}
      {data.items.length === 0 && !isFirst && <p>No older link works.</p>}
      <p className={styles.pages}>
        {!isFirst && <Link to="/account/shares">Newest links</Link>}
        {next !== undefined && (
          <Link to="/account/shares" search={{ pagetoken: next }}>
            Older links
          </Link>
        )}
      </p>
    </>
  );
}

interface SharesTableProps {
  shares: readonly AccountShare[];
  onRevoke: (share: AccountShare) => void;
}

function SharesTable({ shares, onRevoke }: SharesTableProps) {
  return (
    <DataTable
      label="Share links"
      rows={shares}
      columns={[
        {
          title: 'Run',
          hover: ({ run_name, run_id }) => run_name || run_id,
          cell: ({ application_id: application, run_id: run, run_name }) => (
            <RunLink application={application} run={run}>
              <bdi>{run_name || run}</bdi>
            </RunLink>
          ),
          note: ({ application_name, run_id, run_name }) => (
            <>
              <bdi>{application_name}</bdi> {run_name !== '' && <code>{run_id}</code>}
            </>
          ),
        },
        { title: 'Parts', onPhone: 'hidden', wraps: true, cell: ({ parts }) => parts.join(', ') },
        {
          title: 'Created',
          onPhone: 'hidden',
          sortBy: ({ created_at }) => created_at,
          cell: ({ created_by }) => <bdi>{created_by}</bdi>,
          note: ({ created_at }) => <RelativeTime at={created_at} />,
        },
        {
          title: 'Ends',
          sortBy: ({ expires_at }) => expires_at,
          cell: ({ expires_at }) => <RelativeTime at={expires_at} />,
        },
        createNumberColumn<AccountShare>('Views', ({ views }) => views),
        {
          title: 'Last view',
          kind: 'number',
          onPhone: 'hidden',
          sortBy: ({ last_viewed_at }) => last_viewed_at,
          cell: ({ last_viewed_at: at }) => (at === null ? 'never' : <RelativeTime at={at} />),
        },
        {
          title: 'Actions',
          kind: 'actions',
          cell: (share) => (
            <MoreMenu label={`Actions of the link to ${share.run_id}, ${share.parts.join(', ')}`}>
              <Button
                onPress={() => onRevoke(share)}
                aria-label={`Revoke the link to ${share.run_id}, ${share.parts.join(', ')}`}
              >
                Revoke
              </Button>
            </MoreMenu>
          ),
        },
      ]}
    />
  );
}
