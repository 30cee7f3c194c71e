import type { Session } from '@switchyard/contract/account/sessions.ts';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import table from '../../ui/table.module.css';
import { sessionsQuery } from './queries.ts';
import styles from './sessions-page.module.css';

/** The browsers that are signed in. The menu of the account ends the session of this browser. */
export function SessionsPage() {
  usePageTitle('Sessions');
  const { data } = useSuspenseQuery(sessionsQuery);
  const sessions = Array.isArray(data) ? data : data.items;
  const ending = useMutation({
    mutationFn: (id: string) => client.call('endSession', { params: { session_id: id } }),
    onSettled: () => queryClient.invalidateQueries(sessionsQuery),
  });
  return (
    <>
      <PageHeader
        title="Sessions"
        description="The browsers that are signed in, each with the role of a key."
      />
      {ending.isError && <Notice kind="error">{describeError(ending.error)}</Notice>}
      <div className={table.scroll}>
        <table className={table.table} aria-label="Sessions">
          <thead>
            <tr>
              <th>Person</th>
              <th>Role</th>
              <th>Browser</th>
              <th>Signed in</th>
              <th>Last used</th>
              <th>Ends</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} onEnd={ending.mutate} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function SessionRow({ session, onEnd }: { session: Session; onEnd: (id: string) => void }) {
  const { id, key } = session;
  return (
    <tr>
      <td>
        {key.user_email}
        <div className={styles.detail}>{key.name}</div>
      </td>
      <td>{key.role}</td>
      <td className={styles.browser}>
        {session.user_agent || 'unknown'}
        <div className={styles.detail}>{session.address}</div>
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
      <td className={styles.action}>
        {session.current ? (
          <strong>This session</strong>
        ) : (
          <Button onPress={() => onEnd(id)} aria-label={`End the session of ${key.user_email}, ${key.name}`}>
            End
          </Button>
        )}
      </td>
    </tr>
  );
}
