import type { Member } from '@switchyard/contract/account/members.ts';
import { useMutation } from '@tanstack/react-query';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import styles from './members-page.module.css';
import { membersQuery } from './queries.ts';

interface MemberActions {
  managesAccount: boolean;
  /** Gets the address of a renewed invite. */
  onInvite: (url: string) => void;
  onChangeRole: (member: Member) => void;
  onRemove: (member: Member) => void;
}

/** The members, with the actions of an administrator. */
export function MembersTable({ members, ...actions }: MemberActions & { members: readonly Member[] }) {
  const renewal = useMutation({
    mutationFn: (id: string) => client.call('renewInvite', { params: { member_id: id } }),
    onSuccess: async ({ body }) => {
      await queryClient.invalidateQueries(membersQuery);
      actions.onInvite(body.invite_url);
    },
  });
  return (
    <>
      {renewal.isError && <Notice kind="error">{describeError(renewal.error)}</Notice>}
      <TableRegion label="Table of members">
        <table className={table.table} aria-label="Members">
          <TableHead texts={['Member', 'Role', 'Invite', 'Added']}>
            {actions.managesAccount && <td />}
          </TableHead>
          <tbody>
            {members.map((member) => (
              <tr key={member.id}>
                <td>
                  {member.email}
                  {member.name && <div className="meta">{member.name}</div>}
                </td>
                <td>{member.role}</td>
                <td>
                  <InviteState member={member} />
                </td>
                <td>
                  <RelativeTime at={member.created_at} />
                </td>
                {actions.managesAccount && (
                  <td>
                    <RowActions member={member} {...actions} onRenew={() => renewal.mutate(member.id)} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </>
  );
}

function InviteState({ member }: { member: Member }) {
  if (member.invite_expires_at === null) return member.pending_invite ? 'expired' : 'accepted';
  return (
    <>
      pending, expires <RelativeTime at={member.invite_expires_at} />
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
    <div className={styles.actions}>
      <Button onPress={() => onChangeRole(member)} aria-label={`Change the role of ${member.email}`}>
        Role
      </Button>
      <Button onPress={onRenew} aria-label={`New link for ${member.email}`}>
        New link
      </Button>
      <Button onPress={() => onRemove(member)} aria-label={`Remove ${member.email}`}>
        Remove
      </Button>
    </div>
  );
}
