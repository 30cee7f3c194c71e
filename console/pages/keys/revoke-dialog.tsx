import type { Key } from '@switchyard/contract/account/account.ts';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { listDescendants } from './descendants.ts';
import styles from './keys-page.module.css';
import { keysQuery } from './queries.ts';

/** Asks before a key is revoked, and whether what was made with it goes with it. */
export function RevokeDialog({
  revoked,
  keys,
  onClose,
}: {
  revoked: Key;
  keys: readonly Key[];
  onClose: () => void;
}) {
  const [isCascade, setCascade] = useState(true);
  const [isInvitedToo, setInvitedToo] = useState(false);
  const descendants = listDescendants(keys, revoked.id);
  const invited = listDescendants(keys, revoked.id, true).filter((key) => !descendants.includes(key));
  return (
    <ConfirmDialog
      title={`Revoke ${revoked.name}?`}
      word={revoked.name}
      action="Revoke key"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('revokeKey', {
          params: { key_id: revoked.id },
          query: { cascade: isCascade, ...(isCascade && isInvitedToo ? { revoke: 'invited_keys' } : {}) },
        });
        await queryClient.invalidateQueries(keysQuery);
        onClose();
      }}
    >
      <p>
        Its token and its sessions stop working at once. Runs that it created continue, but their apps can no
        longer call the API.
      </p>
      <label className={styles.cascade}>
        <input type="checkbox" checked={isCascade} onChange={(event) => setCascade(event.target.checked)} />
        Also revoke what was made with it:{' '}
        {descendants.length > 0 && `the keys ${descendants.map(({ name }) => name).join(', ')}, `}
        worker tokens, trust in HTML assets, share links and webhooks
      </label>
      {isCascade && invited.length > 0 && (
        <label className={styles.cascade}>
          <input
            type="checkbox"
            checked={isInvitedToo}
            onChange={(event) => setInvitedToo(event.target.checked)}
          />
          Also revoke the keys of members whom it invited, who then need a new invite:{' '}
          {invited.map(({ user_email, name }) => `${name} of ${user_email}`).join(', ')}
        </label>
      )}
    </ConfirmDialog>
  );
}
