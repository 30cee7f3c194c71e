import type { Key } from '@switchyard/contract/account/account.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listItems } from '../../client/list-items.ts';
import { accountQuery } from '../../client/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { OneTimeText } from '../../ui/forms/one-time-text.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
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
    <DataTable
      label="Keys"
      rows={keys}
      columns={[
        {
          title: 'Key',
          sortBy: ({ name }) => name,
          hover: ({ name }) => name,
          cell: ({ id, name }) => (
            <>
              <bdi>{name}</bdi>
              {id === account.key.id && <span className="soft"> this session</span>}
            </>
          ),
          note: ({ id, name }) => (
            <>
              {id} <CopyButton text={id} label={`Copy the id of ${name}`} />
            </>
          ),
        },
        { title: 'Role', onPhone: 'plain', sortBy: ({ role }) => role, cell: ({ role }) => role },
        {
          title: 'Owner',
          onPhone: 'hidden',
          sortBy: ({ user_email }) => user_email,
          cell: ({ user_email }) => <bdi>{user_email}</bdi>,
        },
        {
          title: 'Created',
          onPhone: 'hidden',
          sortBy: ({ created_at }) => created_at,
          cell: ({ created_at }) => <RelativeTime at={created_at} />,
          note: ({ created_by }) => created_by && <>by {created_by.user_email}</>,
        },
        {
          title: 'Last used',
          kind: 'number',
          sortBy: ({ last_used_at }) => last_used_at,
          cell: ({ last_used_at: at }) => (at === null ? 'never' : <RelativeTime at={at} />),
        },
        {
          title: 'Actions',
          kind: 'actions',
          cell: (key) => (
            <MoreMenu label={`Actions of ${key.name}`}>
              <Button onPress={() => onRevoke(key)} aria-label={`Revoke ${key.name}`}>
                Revoke
              </Button>
            </MoreMenu>
          ),
        },
      ]}
    />
  );
}
