import type { AccountShare } from '@switchyard/contract/account/share-links.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { RevokeShareDialog } from '../../ui/destruction/revoke-share-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
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
    <TableRegion label="Table of share links">
      <table className={table.table} aria-label="Share links">
        <thead>
          <tr>
            <th>Run</th>
            <th>Parts</th>
            <th>Created</th>
            <th>Ends</th>
            <th className={table.number}>Views</th>
            <th>Last view</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {shares.map((share) => (
            <tr key={share.id}>
              <td className={styles.run}>
                <RunCell share={share} />
              </td>
              <td className={styles.parts}>{share.parts.join(', ')}</td>
              <td>
                <div className={styles.person}>{share.created_by}</div>
                <div className="meta">
                  <RelativeTime at={share.created_at} />
                </div>
              </td>
              <td className="nowrap">
                <RelativeTime at={share.expires_at} />
              </td>
              <td className={table.number}>{formatNumber(share.views)}</td>
              <td className="nowrap">
                {share.last_viewed_at === null ? 'never' : <RelativeTime at={share.last_viewed_at} />}
              </td>
              <td className="row-action">
                <Button
                  onPress={() => onRevoke(share)}
                  aria-label={`Revoke the link to ${share.run_id}, ${share.parts.join(', ')}`}
                >
                  Revoke
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}

function RunCell({ share: { application_id: application, run_id: run, run_name } }: { share: AccountShare }) {
  return (
    <>
      <Link to="/apps/$application/runs/$run" params={{ application, run }}>
        <bdi>{run_name === '' ? run : run_name}</bdi>
      </Link>
      <div className="meta">
        <bdi>{application}</bdi>
        {run_name !== '' && (
          <>
            {' · '}
            <code>{run}</code>
          </>
        )}
      </div>
    </>
  );
}
