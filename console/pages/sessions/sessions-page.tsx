import type { Session } from '@switchyard/contract/account/sessions.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { listItems } from '../../client/list-items.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { describeBrowser } from './describe-browser.ts';
import { sessionsQuery } from './queries.ts';

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
      <DataTable label="Sessions" rows={sessions} columns={buildColumns(setEnded)} />
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

function buildColumns(onEnd: (session: Session) => void): DataColumn<Session>[] {
  return [
    {
      title: 'Person',
      sortBy: ({ key }) => key.user_email,
      cell: ({ key, current }) => (
        <>
          <bdi>{key.user_email}</bdi> {current && <strong>This session</strong>}
        </>
      ),
      note: ({ key }) => <bdi>{key.name}</bdi>,
    },
    { title: 'Role', onPhone: 'hidden', sortBy: ({ key }) => key.role, cell: ({ key }) => key.role },
    {
      title: 'Browser',
      onPhone: 'plain',
      hover: ({ user_agent }) => user_agent,
      cell: ({ user_agent }) => describeBrowser(user_agent),
      note: ({ address }) => address,
    },
    {
      title: 'Signed in',
      onPhone: 'hidden',
      sortBy: ({ created_at }) => created_at,
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
    },
    {
      title: 'Last used',
      onPhone: 'end',
      sortBy: ({ last_used_at }) => last_used_at,
      cell: ({ last_used_at }) => <RelativeTime at={last_used_at} />,
    },
    {
      title: 'Ends',
      onPhone: 'hidden',
      sortBy: ({ expires_at }) => expires_at,
      cell: ({ expires_at }) => <RelativeTime at={expires_at} />,
    },
    {
      title: 'Actions',
      kind: 'actions',
      cell: (session) =>
        !session.current && (
          <MoreMenu label={`Actions of ${session.key.user_email}, ${session.key.name}`}>
            <Button
              onPress={() => onEnd(session)}
              aria-label={`End the session of ${session.key.user_email}, ${session.key.name}`}
            >
              End session
            </Button>
          </MoreMenu>
        ),
    },
  ];
}
