import type { Member } from '@switchyard/contract/account/members.ts';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../client/session.ts';
import { Button } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { membersQuery } from './queries.ts';

/** What the people of a role may do, in few words. */
export const ROLE_WORDS: Readonly<Record<string, string>> = {
  root: 'the whole server',
  admin: 'members and keys too',
  developer: 'apps, secrets, versions',
  operator: 'runs and experiments',
  viewer: 'looks only',
};

interface MemberActions {
  managesAccount: boolean;
  /** Gets the address of a renewed invite. */
  onInvite: (url: string) => void;
  onChangeRole: (member: Member) => void;
  onRemove: (member: Member) => void;
}

/** The members, open invites first, with the actions of an administrator. */
export function MembersTable({ members, ...actions }: MemberActions & { members: readonly Member[] }) {
  const { data: account } = useSuspenseQuery(accountQuery);
  const renewal = useMutation({
    mutationFn: (id: string) => client.call('renewInvite', { params: { member_id: id } }),
    onSuccess: async ({ body }) => {
      await queryClient.invalidateQueries(membersQuery);
      actions.onInvite(body.invite_url);
    },
  });
  const isOpen = ({ pending_invite }: Member) => Number(pending_invite);
  return (
    <>
      {renewal.isError && <Notice kind="error">{describeError(renewal.error)}</Notice>}
      <DataTable<Member>
        label="Members"
        rows={members.toSorted((one, other) => isOpen(other) - isOpen(one))}
        columns={[
          ...buildColumns(account.key.user_email),
          actions.managesAccount && {
            title: 'Actions',
            kind: 'actions',
            cell: (member) => (
              <RowActions member={member} {...actions} onRenew={() => renewal.mutate(member.id)} />
            ),
          },
        ]}
      />
    </>
  );
}

function buildColumns(own: string): DataColumn<Member>[] {
  return [
    {
      title: 'Member',
      sortBy: ({ name, email }) => name || email,
      hover: ({ name, email }) => `${name} ${email}`.trim(),
      cell: ({ name, email }) => (
        <>
          <bdi>{name || email}</bdi> {email === own && <span className="soft">you</span>}
        </>
      ),
      note: (member) => <InviteState member={member} />,
    },
    {
      title: 'Role',
      onPhone: 'plain',
      sortBy: ({ role }) => role,
      cell: ({ role }) => role,
      note: ({ role }) => ROLE_WORDS[role],
    },
    {
      title: 'Added',
      kind: 'number',
      sortBy: ({ created_at }) => created_at,
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
    },
  ];
}

/** The address of a member, or the state of an open invite. */
function InviteState({ member: { name, email, pending_invite, invite_expires_at } }: { member: Member }) {
  if (!pending_invite) return <bdi>{name ? email : ''}</bdi>;
  return (
    <>
      {name && <bdi>{email}, </bdi>}
      {invite_expires_at === null ? (
        'invited, but the link has expired'
      ) : (
        <>
          invited, the link ends <RelativeTime at={invite_expires_at} />
        </>
      )}
    </>
  );
}

function RowActions({
  member,
  onChangeRole,
  onRemove,
  onRenew,
}: MemberActions & { member: Member; onRenew: () => void }) {
  return (
    <MoreMenu label={`Actions of ${member.email}`}>
      <Button onPress={() => onChangeRole(member)} aria-label={`Change the role of ${member.email}`}>
        Change role
      </Button>
      <Button onPress={onRenew} aria-label={`New link for ${member.email}`}>
        New link
      </Button>
      <Button onPress={() => onRemove(member)} aria-label={`Remove ${member.email}`}>
        Remove
      </Button>
    </MoreMenu>
  );
}
