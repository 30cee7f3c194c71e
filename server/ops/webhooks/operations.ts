/** Operations on webhooks and their secrets. */
import type { IncomingHttpHeaders } from 'node:http';
import { SECRET_OVERLAP_HOURS_DEFAULT, WEBHOOKS_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { lockMakerAccount } from '../../accounts/account/access-changes.ts';
import { isLocalRequest } from '../../accounts/account/sign-up.ts';
import { lockAccount } from '../../accounts/account/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, notFound, quoteValue, unauthorized } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithList } from '../../platform/http/lists/list-responses.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { makeId } from '../../platform/random.ts';
import { addRunEventListener, removeRunEventListener } from '../../runs/store/event-listeners.ts';
import { validateWebhookUrl } from './addresses.ts';
import { formatSecret, formatWebhook } from './format-webhook.ts';
import type { WebhooksTable } from './schema.ts';
import { decryptSigningSecrets, encryptSecret, generateSecret } from './signature.ts';
import * as store from './store.ts';

const HOUR_MS = 60 * 60 * 1000;

export const createWebhook: OperationHandler<'createWebhook'> = async (
  context,
  { caller, headers, body, commit },
) => {
  const { seal, clock, random } = context;
  const given_locally = checkUrl(context, body.endpoint_url, headers);
  const now = clock.now();
  const uid = makeId<string>(random, 'webhook');
  const row: WebhooksTable = {
    uid,
    account_id: caller.account,
    id: body.id,
    event_types: JSON.stringify(body.event_types),
    endpoint_url: body.endpoint_url,
    given_locally,
    description: body.description,
    secret: encryptSecret(seal, generateSecret(random), uid, caller.account),
    previous_secret: null,
    previous_until: null,
    disabled_at: null,
    created_by: caller.email,
    created_by_key: caller.key,
    created_at: now,
    updated_at: now,
  };
  return commit(async (tx) => {
    await lockMakerAccount(tx, caller);
    if (!(await store.insertWebhook(tx, row)))
      throw badRequest(
        `id is ${quoteValue(body.id)}, which another webhook of the account has; choose another.`,
      );
    if ((await store.countWebhooks(tx, caller.account)) > WEBHOOKS_MAX)
      throw badRequest(`The account has ${WEBHOOKS_MAX} webhooks, the most it can have; delete one.`);
    await addRunEventListener(tx, caller.account);
    return { status: 201, body: formatWebhook(row) };
  });
};

export const listWebhooks: OperationHandler<'listWebhooks'> = async (context, { caller, query }) =>
  respondWithList(context, {
    tokenScope: `webhooks ${caller.account}`,
    query,
    queryRows: (page) => store.listWebhooks(context.database.read, caller.account, page),
    formatBodies: (rows) => rows.map(formatWebhook),
  });

export const getWebhook: OperationHandler<'getWebhook'> = async ({ database }, { caller, params }) => {
  const webhook = await store.getWebhook(database.read, caller.account, params.webhook_id);
  const { last, success, failure } = await store.findDeliveryState(database.read, webhook.uid);
  const body = {
    ...formatWebhook(webhook),
    ...(success && { last_success_at: formatRfc3339(success.created_at) }),
    ...(last && failure && { failing_since: formatRfc3339(failure.created_at), last_error: last.error }),
  };
  return { status: 200, body };
};

export const updateWebhook: OperationHandler<'updateWebhook'> = async (
  context,
  { caller, headers, params, body, commit },
) => {
  const { database, clock } = context;
  const { event_types, endpoint_url, description } = body;
  const address =
    typeof endpoint_url === 'string'
      ? { endpoint_url, given_locally: checkUrl(context, endpoint_url, headers) }
      : {};
  const webhook = await store.getWebhook(database.read, caller.account, params.webhook_id);
  // Clients send the whole webhook back, so only another URL makes the caller its author, or enabling it again.
  const isMaker =
    (typeof endpoint_url === 'string' && endpoint_url !== webhook.endpoint_url) ||
    webhook.disabled_at !== null;
  const changes = {
    ...(isMaker ? { created_by: caller.email, created_by_key: caller.key } : {}),
    ...(event_types ? { event_types: JSON.stringify(event_types) } : {}),
    ...address,
    ...(typeof description === 'string' ? { description } : {}),
    disabled_at: null,
  };
  return commit(async (tx) => {
    await lockMakerAccount(tx, caller);
    const current = await store.lockWebhookRow(tx, webhook.uid);
    if (current)
      requireUnchanged({ noun: `webhook ${quoteValue(webhook.id)}`, updatedAt: current.updated_at }, body);
    const dated = { ...changes, updated_at: computeUpdateTime(clock.now(), current ?? webhook) };
    if (!(await store.updateWebhook(tx, webhook.uid, dated)))
      throw notFound(`There is no webhook ${quoteValue(params.webhook_id)}.`);
    return { status: 204 };
  });
};

export const deleteWebhook: OperationHandler<'deleteWebhook'> = async (
  { onWebhookDeleted },
  { caller, params, commit },
) => {
  const committed = await commit(async (tx) => {
    await lockWebhooks(tx, caller.account);
    const { uid } = await store.getWebhook(tx, caller.account, params.webhook_id);
    await store.deleteWebhook(tx, uid);
    if ((await store.countWebhooks(tx, caller.account)) === 0)
      await removeRunEventListener(tx, caller.account);
    return { status: 204 };
  });
  onWebhookDeleted();
  return committed;
};

export const getWebhookSecret: OperationHandler<'getWebhookSecret'> = async (
  { database, seal, clock },
  { caller, params, commit },
) => {
  const webhook = await store.getWebhook(database.read, caller.account, params.webhook_id);
  const now = clock.now();
  const [secret] = decryptSigningSecrets(seal, webhook, now);
  // Reading a secret is audited, so the entry is the effect.
  return commit(async () => ({ status: 200, body: formatSecret(webhook, secret, now) }));
};

export const rotateWebhookSecret: OperationHandler<'rotateWebhookSecret'> = async (
  { seal, clock, random },
  { caller, params, body, commit },
) => {
  const now = clock.now();
  const hours = body?.overlap_hours ?? SECRET_OVERLAP_HOURS_DEFAULT;
  const secret = generateSecret(random);
  return commit(async (tx) => {
    // Of two simultaneous rotations, the later one must find the secret of the earlier one.
    await lockWebhooks(tx, caller.account);
    const webhook = await store.getWebhook(tx, caller.account, params.webhook_id);
    const changes = {
      secret: encryptSecret(seal, secret, webhook.uid, caller.account),
      previous_secret: hours === 0 ? null : webhook.secret,
      previous_until: hours === 0 ? null : now + hours * HOUR_MS,
      updated_at: now,
    };
    await store.updateWebhook(tx, webhook.uid, changes);
    return { status: 201, body: formatSecret({ ...webhook, ...changes }, secret, now) };
  });
};

/** Throws a 400 for an address that the caller may not set; returns 1 for a caller on this machine, else 0. */
function checkUrl(
  { addressRuleFor }: Pick<Context, 'addressRuleFor'>,
  url: string,
  headers: IncomingHttpHeaders,
): 0 | 1 {
  const isLocallySet = isLocalRequest(headers);
  const error = validateWebhookUrl(url, addressRuleFor(isLocallySet));
  if (error !== null) throw badRequest(`endpoint_url is ${quoteValue(url)}; ${error}.`);
  return isLocallySet ? 1 : 0;
}

/** Locks the account, which serialises changes to its webhooks; throws a 401 when it is deleted. */
async function lockWebhooks(tx: Writer, account: AccountId): Promise<void> {
  if (!(await lockAccount(tx, account))) throw unauthorized('The account of the token was deleted.');
}
