/**
 * The inventory of a member: everything they made that goes on giving access without them. Their own keys, sessions and
 * invites end with the member in any case, so the inventory only counts them.
 */
import Type, { type Static } from 'typebox';
import { INVENTORY_ITEMS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { hasRight, type Right, type Role } from '../roles.ts';
import { nullable, stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import { idSchema, type MemberId } from '../schemas/ids.ts';

/** The kinds of things in an inventory, which a removal may also keep. */
export const INVENTORY_KINDS = [
  ...(['keys_for_others', 'worker_tokens', 'allowed_tokens', 'trusted_assets'] as const),
  ...(['share_links', 'webhooks', 'invited_keys'] as const),
] as const;
export type InventoryKind = (typeof INVENTORY_KINDS)[number];

/**
 * The kinds that stay unless the request revokes them: the server cannot tell a colleague who accepted an invite from an
 * inviter who accepted it themselves.
 */
export const RETAINED_KINDS = ['invited_keys'] as const satisfies readonly InventoryKind[];

/** Returns true for a kind that stays unless the request revokes it. */
export function isRetainedByDefault(kind: InventoryKind): boolean {
  return RETAINED_KINDS.some((one) => one === kind);
}

/** Returns the kinds that a change revokes, of those that it could revoke. */
export function listRevokedKinds(
  kinds: readonly InventoryKind[],
  { keep, revoke }: { keep: readonly InventoryKind[]; revoke: readonly InventoryKind[] },
): InventoryKind[] {
  return kinds.filter(
    (kind) => !keep.includes(kind) && (!isRetainedByDefault(kind) || revoke.includes(kind)),
  );
}

/** The value of `keep` that names every kind. */
export const KEEP_ALL = 'all';

/** Singular and plural of each kind, in messages. */
const NOUNS: Readonly<Record<InventoryKind, readonly [string, string]>> = {
  keys_for_others: ['key for another address', 'keys for other addresses'],
  worker_tokens: ['worker token', 'worker tokens'],
  allowed_tokens: ['allowed worker token of a subscriber', 'allowed worker tokens of subscribers'],
  trusted_assets: ['application with trusted HTML assets', 'applications with trusted HTML assets'],
  share_links: ['share link', 'share links'],
  webhooks: ['webhook', 'webhooks'],
  invited_keys: ['key of an invited member', 'keys of invited members'],
};

/** Returns `1 worker token` or `2 worker tokens`; without a number, the singular. */
export function formatInventoryKind(kind: InventoryKind, count?: number): string {
  if (count === undefined) return NOUNS[kind][0];
  return `${count} ${NOUNS[kind][count === 1 ? 0 : 1]}`;
}

/** The right that a role needs to make things of each kind; A test compares it with the operations. */
const RIGHT_TO_MAKE: Readonly<Record<InventoryKind, Right>> = {
  keys_for_others: 'account',
  worker_tokens: 'account',
  allowed_tokens: 'account',
  trusted_assets: 'account',
  share_links: 'run',
  webhooks: 'write',
  invited_keys: 'account',
};

/** Returns the kinds that a member can no longer make; null stands for a removed member, who can make none. */
export function listLostKinds(before: Role, after: Role | null): InventoryKind[] {
  if (after === null) return [...INVENTORY_KINDS];
  return INVENTORY_KINDS.filter(
    (kind) => hasRight(before, RIGHT_TO_MAKE[kind]) && !hasRight(after, RIGHT_TO_MAKE[kind]),
  );
}

const kind = stringEnum(
  INVENTORY_KINDS,
  '`keys_for_others`: a key that the member created for another address, or that such a key created. A key by the renewed invite of a joined member is one of them. `worker_tokens`, `share_links`, `webhooks`: made by the member, or with one of these keys. `allowed_tokens`: a worker token of a subscriber that the member allowed to receive the program of an app. `trusted_assets`: an application whose HTML assets run without a click because the member trusted it. `invited_keys`: the first key of a member whom they invited, or a key that it created.',
);

/** The field `revoke` of a query. */
export const revokeQuery = Type.Optional(
  Type.String({
    pattern: `^(${RETAINED_KINDS.join('|')})$`,
    description:
      '`invited_keys`: also revoke the first keys of invited members, with everything made with them. These members stay, and need a new invite.',
  }),
);

const InventoryItem = Type.Object(
  {
    kind,
    id: Type.String({ description: 'Id of the key, worker token, application, share link or webhook.' }),
    name: Type.String({
      description:
        'Name of the key, worker token or application, id of the app, name of the shared run, or URL of the webhook.',
    }),
    detail: Type.String({ description: 'The access that it gives, in a phrase.' }),
    expires_at: Type.Optional(timestampSchema('End of a share link')),
    created_at: timestampSchema('Creation time'),
    last_used_at: nullable(timestampSchema('Time of the last use; null when unknown or never used')),
  },
  { $id: 'InventoryItem', description: 'A thing that gives access and that a member made.' },
);
export type InventoryItem = Static<typeof InventoryItem>;

const count = Type.Integer({ minimum: 0, description: 'Number of items.' });

const MemberInventory = Type.Object(
  {
    items: Type.Array(InventoryItem, {
      description: `At most ${INVENTORY_ITEMS_MAX} items of each kind, newest first within the kind.`,
    }),
    counts: Type.Object(
      {
        ...{ keys_for_others: count, worker_tokens: count, allowed_tokens: count },
        ...{ trusted_assets: count, share_links: count, webhooks: count, invited_keys: count },
      },
      { description: 'Number of items of each kind, also where the list ends earlier.' },
    ),
    own_keys: Type.Integer({ minimum: 0, description: "Keys with the member's own address." }),
    sessions: Type.Integer({ minimum: 0, description: 'Open sessions of the member.' }),
    open_invites: Type.Integer({ minimum: 0, description: 'Open invites from the member.' }),
  },
  { $id: 'MemberInventory', description: 'Everything that a member made and that gives access.' },
);
export type MemberInventory = Static<typeof MemberInventory>;

export const getMemberInventory = defineOperation({
  id: 'getMemberInventory',
  method: 'GET',
  path: '/v1/account/members/{member_id}/inventory',
  tag: 'account',
  summary: 'Get the inventory of a member',
  description:
    'Lists what the member made that gives access without them, such as keys for other addresses, worker tokens, trust in HTML assets, share links and webhooks. It also lists the keys of members whom they invited. Removing the member revokes all of it except the keys of invited members. `keep` and `revoke` of `deleteMember` change that for each kind.',
  right: 'account',
  params: Type.Object({ member_id: idSchema<MemberId>('Id of the member.') }),
  responses: respond(200, 'The inventory.', MemberInventory, {
    items: [
      {
        kind: 'worker_tokens',
        id: 'wtk-01jd3v7k9mq2z5x8',
        name: 'Solver nodes',
        detail: 'runs of all applications; 2 workers use it',
        created_at: '2026-11-20T08:00:00.000Z',
        last_used_at: '2026-11-27T08:00:00.000Z',
      },
    ],
    counts: {
      ...{ keys_for_others: 0, worker_tokens: 1, allowed_tokens: 0 },
      ...{ trusted_assets: 0, share_links: 0, webhooks: 0, invited_keys: 0 },
    },
    own_keys: 2,
    sessions: 1,
    open_invites: 0,
  }),
});
