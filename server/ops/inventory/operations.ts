/** The operation on the inventory of a member. */
import {
  INVENTORY_KINDS,
  type InventoryItem,
  type InventoryKind,
} from '@switchyard/contract/account/inventory.ts';
import { INVENTORY_ITEMS_MAX } from '@switchyard/contract/limits.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import { listInvitedKeys, listKeysForOthers } from '../../accounts/account/access-changes.ts';
import { getMember } from '../../accounts/account/member-store.ts';
import type { KeysTable } from '../../accounts/account/schema.ts';
import { listAccountKeys } from '../../accounts/account/store.ts';
import { countSessions } from '../../accounts/sessions/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import type { WorkerTokensTable } from '../../runs/workers/schema.ts';
import { parseApplicationUids } from '../../runs/workers/worker-tokens.ts';
import {
  countInvites,
  listAllowances,
  listMadeShares,
  listMadeTokens,
  listMadeTrust,
  listMadeWebhooks,
} from './store.ts';

export const getMemberInventory: OperationHandler<'getMemberInventory'> = async (
  { database, clock },
  { caller, params },
) => {
  const { read } = database;
  const { account } = caller;
  const { owner } = await getMember(read, account, params.member_id);
  const keys = await listAccountKeys(read, account);
  const own = keys.filter((key) => key.owner === owner);
  const others = listKeysForOthers(keys, owner);
  const author = { account, owner, keys: [...own, ...others].map((key) => key.id) };
  const now = clock.now();
  const made: Record<InventoryKind, InventoryItem[]> = {
    keys_for_others: others.toSorted(compareAge).map((key) => formatKeyItem('keys_for_others', key)),
    worker_tokens: (await listMadeTokens(read, author)).map(formatTokenItem),
    allowed_tokens: (await listAllowances(read, author)).map((row) => ({
      ...{ kind: 'allowed_tokens' as const, id: row.worker_token_id, name: row.app_id },
      detail: `workers of a subscriber receive the program of ${row.title}`,
      ...formatTimes(row.created_at, null),
    })),
    trusted_assets: (await listMadeTrust(read, author)).map((row) => ({
      ...{ kind: 'trusted_assets' as const, id: row.id, name: row.name },
      detail: 'HTML assets run without a click',
      ...formatTimes(row.html_trusted_at, null),
    })),
    share_links: (await listMadeShares(read, author, now)).map((share) => ({
      ...{ kind: 'share_links' as const, id: share.id, name: share.run_name || share.run_id },
      detail: `a run of ${share.application_name}`,
      expires_at: formatRfc3339(share.expires_at),
      ...formatTimes(share.created_at, share.last_viewed_at),
    })),
    webhooks: (await listMadeWebhooks(read, author)).map((webhook) => ({
      ...{ kind: 'webhooks' as const, id: webhook.id, name: webhook.endpoint_url },
      detail: webhook.description || 'events of the account',
      ...formatTimes(webhook.created_at, null),
    })),
    invited_keys: listInvitedKeys(keys, owner)
      .toSorted(compareAge)
      .map((key) => formatKeyItem('invited_keys', key)),
  };
  return {
    status: 200,
    body: {
      items: INVENTORY_KINDS.flatMap((kind) => made[kind].slice(0, INVENTORY_ITEMS_MAX)),
      counts: {
        keys_for_others: made.keys_for_others.length,
        worker_tokens: made.worker_tokens.length,
        allowed_tokens: made.allowed_tokens.length,
        trusted_assets: made.trusted_assets.length,
        share_links: made.share_links.length,
        webhooks: made.webhooks.length,
        invited_keys: made.invited_keys.length,
      },
      own_keys: own.length,
      sessions: await countSessions(read, { account, owner, now }),
      open_invites: await countInvites(read, account, owner),
    },
  };
};

function formatTimes(createdAt: number, lastUsedAt: number | null) {
  return {
    created_at: formatRfc3339(createdAt),
    last_used_at: lastUsedAt === null ? null : formatRfc3339(lastUsedAt),
  };
}

/** Sorts the newest first. */
const compareAge = (a: KeysTable, b: KeysTable): number => b.created_at - a.created_at;

function formatKeyItem(kind: InventoryKind, key: KeysTable): InventoryItem {
  const { id, name, role, email, created_at, last_used_at } = key;
  const through = key.invite === null ? '' : ', through an invite';
  const detail = `${role} key of ${email}${through}`;
  return { kind, id, name, detail, ...formatTimes(created_at, last_used_at) };
}

function formatTokenItem(row: WorkerTokensTable & { workers: number }): InventoryItem {
  const applications = parseApplicationUids(row);
  const scope = applications ? formatCount(applications.length, 'application') : 'all applications';
  const accounts = row.serves_all_accounts === 1 ? ' of all accounts' : '';
  return {
    ...{ kind: 'worker_tokens', id: row.id, name: row.name },
    detail: `runs of ${scope}${accounts}; used by ${formatCount(row.workers, 'worker')}`,
    ...formatTimes(row.created_at, row.last_used_at),
  };
}
