import type { WorkerToken } from '@switchyard/contract/workers/worker-tokens.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { CopyableText, OneTimeText } from '../../ui/forms/one-time-text.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { LabelList } from './label-list.tsx';
import { workerTokensQuery } from './queries.ts';
import { RevokeTokenDialog } from './revoke-token-dialog.tsx';
import styles from './workers-page.module.css';

/** The credentials of remote workers, and the forms that create and revoke one. */
export function WorkerTokens() {
  const { items } = useSuspenseQuery(workerTokensQuery).data;
  const [isCreating, setCreating] = useState(false);
  const [token, setToken] = useState<string>();
  const [revoked, setRevoked] = useState<WorkerToken>();
  return (
    <section aria-labelledby="worker-tokens" className={styles.tokens}>
      <h2 id="worker-tokens">Worker tokens</h2>
      <p className="soft">
        A worker on any machine that reaches this server executes runs with a worker token, and can do nothing
        else.
      </p>
      {items.length > 0 && <TokenTable tokens={items} onRevoke={setRevoked} />}
      <div>
        <Button onPress={() => setCreating(true)}>New worker token</Button>
      </div>
      {isCreating && (
        <CreateTokenDialog
          onClose={() => setCreating(false)}
          onCreate={(created) => {
            setCreating(false);
            setToken(created);
          }}
        />
      )}
      {token !== undefined && <NewToken token={token} onClose={() => setToken(undefined)} />}
      {revoked && <RevokeTokenDialog revoked={revoked} onClose={() => setRevoked(undefined)} />}
    </section>
  );
}

/** A new token, and the command that starts a worker with it. */
function NewToken({ token, onClose }: { token: string; onClose: () => void }) {
  return (
    <OneTimeText
      title="The worker token is ready"
      label="token"
      text={token}
      advice="Copy the token now and store it as a password. No later page shows it."
      onClose={onClose}
    >
      <p>Start a worker with it in the folder of Switchyard on any machine that reaches this address:</p>
      <CopyableText
        label="command"
        text={`SWITCHYARD_WORKER_TOKEN=${token} npm run worker -- --server ${location.origin}`}
      />
    </OneTimeText>
  );
}

function TokenTable({
  tokens,
  onRevoke,
}: {
  tokens: readonly WorkerToken[];
  onRevoke: (token: WorkerToken) => void;
}) {
  return (
    <DataTable
      label="Worker tokens"
      rows={tokens}
      columns={[
        {
          title: 'Token',
          hover: ({ name }) => name,
          cell: ({ name }) => <bdi>{name}</bdi>,
          note: ({ created_at, created_by }) => (
            <>
              Created <RelativeTime at={created_at} /> by {created_by || 'the server'}
            </>
          ),
        },
        {
          title: 'Executes runs of',
          onPhone: 'hidden',
          hover: describeScope,
          cell: (token) => <bdi>{describeScope(token)}</bdi>,
        },
        {
          title: 'Labels',
          onPhone: 'hidden',
          cell: ({ labels }) => (labels === null ? 'any' : <LabelList labels={labels} />),
        },
        { title: 'Workers', kind: 'number', cell: ({ workers }) => workers },
        {
          title: 'Last used',
          kind: 'number',
          cell: ({ last_used_at: at }) => (at === null ? 'never' : <RelativeTime at={at} />),
        },
        {
          title: 'Actions',
          kind: 'actions',
          cell: (token) => (
            <MoreMenu label={`Actions of ${token.name}`}>
              <Button onPress={() => onRevoke(token)} aria-label={`Revoke ${token.name}`}>
                Revoke
              </Button>
            </MoreMenu>
          ),
        },
      ]}
    />
  );
}

/** Returns the accounts and applications of a token in words. */
function describeScope({ applications, all_accounts: servesAll }: WorkerToken): string {
  if (servesAll) return 'all accounts';
  if (applications === null) return 'all applications';
  return applications.length === 0 ? 'none: its applications were deleted' : applications.join(', ');
}
