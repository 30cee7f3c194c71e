import type { Session } from '@switchyard/contract/account/sessions.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { listItems } from '../../client/list-items.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { describeBrowser } from './describe-browser.ts';
import { sessionsQuery } from './queries.ts';
import styles from './sessions-page.module.css';

/** The browsers that are signed in. The menu of the account ends the session of this browser. */
export function SessionsPage() {
  usePageTitle('Sessions');
  const { data } = useSuspenseQuery(sessionsQuery);
  const sessions = listItems(data);
  const [ended, setEnded] = useState<Session>();
  return (
    <>
      <PageHeader
        title="Sessions"
        description="The browsers that are signed in, each with the role of a key."
      />
      <TableRegion label="List of sessions">
        <table className={table.table} aria-label="Sessions">
          <TableHead texts={['Person', 'Role', 'Browser', 'Signed in', 'Last used', 'Ends']}>
            <td />
          </TableHead>
          <tbody>
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} onEnd={setEnded} />
            ))}
          </tbody>
        </table>
      </TableRegion>
      {ended && <EndDialog session={ended} onClose={() => setEnded(undefined)} />}
    </>
  );
}

function EndDialog({ session: { id, key }, onClose }: { session: Session; onClose: () => void }) {
  return (
    <ConfirmDialog
      title={`End the session of ${key.user_email}?`}
      action="End session"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('endSession', { params: { session_id: id } });
        await queryClient.invalidateQueries(sessionsQuery);
        onClose();
      }}
    >
      <p>The browser is signed out at once. Its key {key.name} stays, and can sign in again.</p>
    </ConfirmDialog>
  );
}

function SessionRow({ session, onEnd }: { session: Session; onEnd: (session: Session) => void }) {
  const { key } = session;
  return (
    <tr>
      <td>
        {key.user_email}
        <div className="meta">{key.name}</div>
      </td>
      <td>{key.role}</td>
      <td className={styles.browser}>
        <span title={session.user_agent}>{describeBrowser(session.user_agent)}</span>
        <div className="meta">{session.address}</div>
      </td>
      <td>
        <RelativeTime at={session.created_at} />
      </td>
      <td>
        <RelativeTime at={session.last_used_at} />
      </td>
      <td>
        <RelativeTime at={session.expires_at} />
      </td>
      <td className="row-action">
        {session.current ? (
          <strong>This session</strong>
        ) : (
          <Button
            onPress={() => onEnd(session)}
            aria-label={`End the session of ${key.user_email}, ${key.name}`}
          >
            End
          </Button>
        )}
      </td>
    </tr>
  );
}
