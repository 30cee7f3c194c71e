import type { Key } from '@switchyard/contract/account/account.ts';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { listDescendants } from './descendants.ts';
import styles from './keys-page.module.css';
import { keysQuery } from './queries.ts';

/** Asks before a key is revoked, and whether the keys that it created go with it. */
export function RevokeDialog({
  revoked,
  keys,
  onClose,
}: {
  revoked: Key;
  keys: readonly Key[];
  onClose: () => void;
}) {
  const [isCascade, setCascade] = useState(false);
  const descendants = listDescendants(keys, revoked.id);
  return (
    <ConfirmDialog
      title={`Revoke ${revoked.name}?`}
      word={revoked.name}
      action="Revoke key"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('revokeKey', {
          params: { key_id: revoked.id },
          query: isCascade ? { cascade: true } : {},
        });
        await queryClient.invalidateQueries(keysQuery);
        onClose();
      }}
    >
      <p>Its token and its sessions stop working at once. Runs that it created continue.</p>
      {descendants.length > 0 && (
        <label className={styles.cascade}>
          <input type="checkbox" checked={isCascade} onChange={(event) => setCascade(event.target.checked)} />
          Also revoke the keys created through it: {descendants.map(({ name }) => name).join(', ')}
        </label>
      )}
    </ConfirmDialog>
  );
}
