import type { DeviceAuthorization } from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { canGrant, ROLES, type Role } from '@switchyard/contract/roles.ts';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { accountQuery } from '../../client/session.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { FactList } from '../../ui/facts.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import styles from './device-page.module.css';

type Decision = { kind: 'approve'; role: Role } | { kind: 'deny' };

/** Shows which program asks from where, and asks for the decision. */
export function DeviceDecision({ code, request }: { code: string; request: DeviceAuthorization }) {
  const decide = useMutation({
    mutationFn: async (decision: Decision) => {
      const response =
        decision.kind === 'approve'
          ? await client.call('approveDeviceAuthorization', {
              body: { user_code: code, role: decision.role },
            })
          : await client.call('denyDeviceAuthorization', { body: { user_code: code } });
      return response.body;
    },
  });
  const { status, role } = decide.data ?? request;
  const name = escapeInvisible(request.client_name);
  if (status === 'pending')
    return (
      <PendingRequest
        code={code}
        request={request}
        error={decide.error}
        isBusy={decide.isPending}
        onDecide={(decision) => decide.mutate(decision)}
      />
    );
  return (
    <>
      <Notice kind={status === 'approved' ? 'success' : 'info'}>
        {status === 'approved'
          ? `${name} gets a key with the role ${role}. Return to the program; it continues by itself.`
          : `${name} gets no key. If you did not start this sign-in yourself, tell your administrator.`}
      </Notice>
      <div>
        <LinkButton to="/account/keys">Show the keys</LinkButton>
      </div>
    </>
  );
}

interface PendingRequestProps {
  code: string;
  request: DeviceAuthorization;
  /** The refusal of the last decision; null for none. */
  error: Error | null;
  isBusy: boolean;
  onDecide: (decision: Decision) => void;
}

function PendingRequest({ code, request, error, isBusy, onDecide }: PendingRequestProps) {
  const { data: account } = useSuspenseQuery(accountQuery);
  const roles = ROLES.filter((one) => canGrant(account.key.role, one));
  const [role, setRole] = useState<Role>(account.key.role);
  return (
    <section className={styles.request} aria-label="Program that asks">
      <p className={styles.code}>{escapeInvisible(code.toUpperCase())}</p>
      <Notice kind="warning">
        Approve only a sign-in that you started yourself, in a program that shows this code now.
      </Notice>
      <FactList
        facts={[
          ['Program', escapeInvisible(request.client_name)],
          ['Address', request.address],
          ['Asked', <RelativeTime key="asked" at={request.created_at} />],
          ['Account', escapeInvisible(account.name)],
          ['Owner of the key', account.key.user_email],
        ]}
      />
      <SelectField
        label="Role"
        help="The key has this role until you revoke it."
        value={role}
        options={roles}
        onChange={(value) => setRole(roles.find((one) => one === value) ?? role)}
      />
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      <div className={styles.actions}>
        <Button kind="primary" isDisabled={isBusy} onPress={() => onDecide({ kind: 'approve', role })}>
          Approve the program
        </Button>
        <Button isDisabled={isBusy} onPress={() => onDecide({ kind: 'deny' })}>
          Deny it
        </Button>
      </div>
    </section>
  );
}
