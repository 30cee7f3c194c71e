import type { Key } from '@switchyard/contract/account/account.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listItems } from '../../client/list-items.ts';
import { accountQuery } from '../../client/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { OneTimeText } from '../../ui/forms/one-time-text.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import styles from './keys-page.module.css';
import { keysQuery } from './queries.ts';
import { RevokeDialog } from './revoke-dialog.tsx';

/** The API keys that the person may see: all keys for an administrator, or else the own ones. */
export function KeysPage() {
  usePageTitle('Keys');
  const { data } = useSuspenseQuery(keysQuery);
  const keys = listItems(data);
  const [isCreating, setCreating] = useState(false);
  const [token, setToken] = useState<string>();
  const [revoked, setRevoked] = useState<Key>();
  return (
    <>
      <PageHeader
        title="Keys"
        description="A program signs in with the token of a key, and has the rights of its role."
        actions={
          <Button kind="primary" onPress={() => setCreating(true)}>
            New key
          </Button>
        }
      />
      <KeysTable keys={keys} onRevoke={setRevoked} />
      {isCreating && (
        <CreateKeyDialog
          onClose={() => setCreating(false)}
          onCreate={(created) => {
            setCreating(false);
            setToken(created);
          }}
        />
      )}
      {token !== undefined && (
        <OneTimeText
          title="The key is ready"
          label="token"
          text={token}
          advice="Copy the token now and store it as a password. No later page shows it."
          onClose={() => setToken(undefined)}
        />
      )}
      {revoked && <RevokeDialog revoked={revoked} keys={keys} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function KeysTable({ keys, onRevoke }: { keys: readonly Key[]; onRevoke: (key: Key) => void }) {
  const { data: account } = useSuspenseQuery(accountQuery);
  return (
    <TableRegion label="List of keys">
      <table className={table.table} aria-label="Keys">
        <TableHead texts={['Key', 'Role', 'Owner', 'Created', 'Last used']}>
          <td />
        </TableHead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>
                <div className={styles.key}>
                  <span>
                    {key.name}
                    {key.id === account.key.id && <span className="meta"> · this session</span>}
                  </span>
                  <span className="meta">
                    {key.id} <CopyButton text={key.id} label={`Copy the id of ${key.name}`} />
                  </span>
                </div>
              </td>
              <td>{key.role}</td>
              <td>{key.user_email}</td>
              <td>
                <RelativeTime at={key.created_at} />
                {key.created_by && <div className="meta">by {key.created_by.user_email}</div>}
              </td>
              <td>{key.last_used_at === null ? 'never' : <RelativeTime at={key.last_used_at} />}</td>
              <td className={styles.action}>
                <Button onPress={() => onRevoke(key)} aria-label={`Revoke ${key.name}`}>
                  Revoke
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
