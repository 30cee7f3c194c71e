import type { Member } from '@switchyard/contract/account/members.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listItems } from '../../client/list-items.ts';
import { accountQuery } from '../../client/session.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { OneTimeText } from '../../ui/forms/one-time-text.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { InviteDialog } from './invite-dialog.tsx';
import { MembersTable } from './members-table.tsx';
import { membersQuery } from './queries.ts';
import { RemoveDialog } from './remove-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { RoleDialog } from './role-dialog.tsx';

/** The dialog that is open, with the member that it is about. */
type OpenDialog =
  | { kind: 'invite' | 'rename' }
  | { kind: 'role' | 'remove'; member: Member }
  | { kind: 'link'; url: string };

/** The people of the account. An administrator invites and removes them, and changes their roles. */
export function MembersPage() {
  usePageTitle('Members');
  const { data: account } = useSuspenseQuery(accountQuery);
  const { data } = useSuspenseQuery(membersQuery);
  const members = listItems(data);
  const managesAccount = useRight('account');
  const [dialog, setDialog] = useState<OpenDialog>();
  return (
    <>
      <PageHeader
        title="Members"
        description={
          <>
            <bdi>{account.name}</bdi>: {describeMembers(members)}
          </>
        }
        actions={
          managesAccount && (
            <Button kind="primary" onPress={() => setDialog({ kind: 'invite' })}>
              <Icon name="add" />
              Invite member
            </Button>
          )
        }
        menu={managesAccount && <Button onPress={() => setDialog({ kind: 'rename' })}>Rename account</Button>}
      />
      {managesAccount && <ExpiredInvites members={members} />}
      {members.length === 0 ? (
        <EmptyState title="Nobody but you" command={INVITE_COMMAND}>
          <p>
            Invite those who push apps, start runs or look at plans. Each gets a link that works once, and a
            role that you can change at any time.
          </p>
        </EmptyState>
      ) : (
        <MembersTable
          members={members}
          managesAccount={managesAccount}
          onInvite={(url) => setDialog({ kind: 'link', url })}
          onChangeRole={(member) => setDialog({ kind: 'role', member })}
          onRemove={(member) => setDialog({ kind: 'remove', member })}
        />
      )}
      {dialog && <MembersDialog dialog={dialog} setDialog={setDialog} />}
    </>
  );
}

/** Names the people who cannot accept their invites any more. */
function ExpiredInvites({ members }: { members: readonly Member[] }) {
  const expired = members.filter(
    ({ pending_invite, invite_expires_at }) => pending_invite && invite_expires_at === null,
  );
  if (expired.length === 0) return null;
  return (
    <Notice kind="warning">
      The invite of <bdi>{expired.map(({ email }) => email).join(', ')}</bdi> has expired. Make a new link in
      the menu of the row.
    </Notice>
  );
}

/** Returns how many people there are, how many manage the account, and how many invites are open. */
function describeMembers(members: readonly Member[]): string {
  const administrators = members.filter(({ role }) => role === 'admin' || role === 'root').length;
  const invites = members.filter(({ pending_invite }) => pending_invite).length;
  return [
    members.length === 1 ? '1 person' : `${members.length} people`,
    formatCount(administrators, 'administrator'),
    ...(invites === 0 ? [] : [formatCount(invites, 'open invite')]),
  ].join(', ');
}

function MembersDialog({
  dialog,
  setDialog,
}: {
  dialog: OpenDialog;
  setDialog: (dialog: OpenDialog | undefined) => void;
}) {
  const close = () => setDialog(undefined);
  switch (dialog.kind) {
    case 'invite':
      return <InviteDialog onClose={close} onInvite={(url) => setDialog({ kind: 'link', url })} />;
    case 'rename':
      return <RenameDialog onClose={close} />;
    case 'role':
      return <RoleDialog member={dialog.member} onClose={close} />;
    case 'remove':
      return <RemoveDialog member={dialog.member} onClose={close} />;
    case 'link':
      return (
        <OneTimeText
          title="The invite is ready"
          label="invite link"
          text={dialog.url}
          advice="Send this link to the person. It works once, and no later page shows it."
          onClose={close}
        />
      );
  }
}

const INVITE_COMMAND = `curl "$SWITCHYARD_URL/v1/account/members" \\
  -H "Authorization: Bearer $SWITCHYARD_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"email": "ada@example.com", "role": "developer"}'`;
