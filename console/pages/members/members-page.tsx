import type { Member } from '@switchyard/contract/account/members.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listItems } from '../../client/list-items.ts';
import { accountQuery } from '../../client/session.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { OneTimeText } from '../../ui/forms/one-time-text.tsx';
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
        description={`The people of the account ${account.name}.`}
        actions={
          managesAccount && (
            <>
              <Button onPress={() => setDialog({ kind: 'rename' })}>Rename account</Button>
              <Button kind="primary" onPress={() => setDialog({ kind: 'invite' })}>
                Invite member
              </Button>
            </>
          )
        }
      />
      {members.length === 0 ? (
        <EmptyState title="No member yet" command={INVITE_COMMAND}>
          <p>A member has an own role and own keys. An administrator invites a first one.</p>
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
