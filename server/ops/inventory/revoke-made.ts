/** Revokes what a member or a key has made, in the transaction that removes the member or the key. */
import type { Author, Revoked, RevokedKinds } from '../../accounts/account/access-changes.ts';
import { removeTrust } from '../../apps/applications/html-trust.ts';
import { removeAllowance } from '../../apps/marketplace/allowed-worker-tokens.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { deleteWorkerToken } from '../../runs/workers/worker-tokens.ts';
import {
  deleteShares,
  disableWebhooks,
  listAllowances,
  listMadeShares,
  listMadeTokens,
  listMadeTrust,
  listMadeWebhooks,
} from './store.ts';

/** Returns the function that revokes what an author made, except keys, and returns it. */
export function createMadeRevocation({ clock }: { clock: Clock }) {
  return async (
    tx: Writer,
    author: Author,
    { kinds, allAccountsTokens }: RevokedKinds,
  ): Promise<Revoked[]> => {
    const now = clock.now();
    const revoked: Revoked[] = [];
    // Applications come first, as in their deletion, which removes allowed tokens of its app.
    if (kinds.includes('trusted_assets'))
      for (const application of await listMadeTrust(tx, author)) {
        await removeTrust(tx, application, now);
        revoked.push({ operation: 'distrustHtmlAssets', resource: { application_id: application.id } });
      }
    const tokens = await listMadeTokens(tx, author);
    for (const { id, serves_all_accounts } of tokens) {
      if (!kinds.includes('worker_tokens') && !(allAccountsTokens && serves_all_accounts === 1)) continue;
      await deleteWorkerToken(tx, author.account, id);
      revoked.push({ operation: 'revokeWorkerToken', resource: { worker_token_id: id } });
    }
    if (kinds.includes('allowed_tokens')) {
      for (const allowance of await listAllowances(tx, author)) {
        await removeAllowance(tx, allowance);
        const { app_id: marketplace_app_id, worker_token_id } = allowance;
        const partner_id = author.account;
        const resource = { partner_id, marketplace_app_id, worker_token_id, change: 'disallowed' };
        revoked.push({ operation: 'updateMarketplaceApp', resource });
      }
    }
    if (kinds.includes('share_links')) {
      const shares = await listMadeShares(tx, author, now);
      await deleteShares(
        tx,
        shares.map(({ id }) => id),
      );
      for (const { id, run_id, application_id } of shares)
        revoked.push({ operation: 'revokeShare', resource: { application_id, run_id, share_id: id } });
    }
    if (kinds.includes('webhooks')) {
      const webhooks = await listMadeWebhooks(tx, author);
      await disableWebhooks(
        tx,
        webhooks.map(({ uid }) => uid),
        now,
      );
      for (const { id } of webhooks)
        revoked.push({ operation: 'updateWebhook', resource: { webhook_id: id, change: 'disabled' } });
    }
    return revoked;
  };
}
