import type { WorkerToken } from '@switchyard/contract/workers/worker-tokens.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyableText, OneTimeText } from '../../ui/forms/one-time-text.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
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
      <p className={styles.note}>
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
    <TableRegion label="Table of worker tokens">
      <table className={table.table} aria-labelledby="worker-tokens">
        <thead>
          <tr>
            <th>Token</th>
            <th>Executes runs of</th>
            <th>Labels</th>
            <th className={table.number}>Workers</th>
            <th>Last used</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <TokenRow key={token.id} token={token} onRevoke={() => onRevoke(token)} />
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}

function TokenRow({ token, onRevoke }: { token: WorkerToken; onRevoke: () => void }) {
  const { name, labels, workers, created_by: creator, last_used_at: usedAt } = token;
  return (
    <tr>
      <td>
        <div className={styles.token}>
          <span className={styles.host}>{name}</span>
          <span className={styles.detail}>
            Created <RelativeTime at={token.created_at} /> by {creator || 'the server'}
          </span>
        </div>
      </td>
      <td>{describeScope(token)}</td>
      <td>{labels === null ? 'any' : <LabelList labels={labels} />}</td>
      <td className={table.number}>{workers}</td>
      <td>{usedAt === null ? 'never' : <RelativeTime at={usedAt} />}</td>
      <td className="row-action">
        <Button onPress={onRevoke} aria-label={`Revoke ${name}`}>
          Revoke
        </Button>
      </td>
    </tr>
  );
}

/** Returns the accounts and applications of a token in words. */
function describeScope({ applications, all_accounts: servesAll }: WorkerToken): string {
  if (servesAll) return 'all accounts';
  if (applications === null) return 'all applications';
  return applications.length === 0 ? 'none: its applications were deleted' : applications.join(', ');
}
