/** The operations on webhooks. */
import type { IncomingHttpHeaders } from 'node:http';
import type {
  Conversation,
  EventType,
  Webhook,
  WebhookEvent,
  WebhookSecret,
} from '@switchyard/contract/account/webhook-schemas.ts';
import { PAGE_ITEMS_MAX, SECRET_OVERLAP_HOURS_DEFAULT, WEBHOOKS_MAX } from '@switchyard/contract/limits.ts';
import type { AccountId, EventId, WebhookId } from '@switchyard/contract/schemas/ids.ts';
import { isLocalRequest } from '../account/sign-up.ts';
import { lockAccount } from '../account/store.ts';
import { type Clock, formatRfc3339 } from '../clock.ts';
import type { Database, Writer } from '../database/database.ts';
import type { Encryptor } from '../database/encryption.ts';
import { badRequest, notFound, quoteValue, unauthorized } from '../http/errors/problem.ts';
import type { HandlersFor } from '../http/handlers/handler.ts';
import { respondWithList } from '../http/lists/list-responses.ts';
import { formatPage, type PageTokens, parsePageRequest, slicePage } from '../http/lists/pagination.ts';
import { makeId, type Random } from '../random.ts';
import { addRunEventListener, removeRunEventListener } from '../runs/store/event-listeners.ts';
import { type AddressRuleFor, validateWebhookUrl } from './addresses.ts';
import { createExampleRun } from './example-run.ts';
import { enqueueDeliveries, subscribersOf } from './fan-out.ts';
import { insertDeliveries } from './outbox.ts';
import type { WebhooksTable } from './schema.ts';
import { generateSecret, openSigningSecrets, sealSecret } from './signature.ts';
import {
  type ConversationWithBody,
  countWebhooks,
  deleteWebhook,
  findConversation,
  findWebhook,
  insertWebhook,
  listConversations,
  listWebhooks,
  updateWebhook,
} from './store.ts';

interface Parts {
  database: Database;
  seal: Encryptor;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  /** What may be reached beside public addresses, by a webhook whose address a caller on this machine gave or another. */
  addressRuleFor: AddressRuleFor;
  /** Told after a webhook was deleted, so that what belonged to it is removed soon. */
  onWebhookDeleted(): void;
}

type WebhookOperation =
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'getWebhookSecret'
  | 'rotateWebhookSecret'
  | 'listWebhookConversations'
  | 'getWebhookConversation'
  | 'replayWebhookConversation'
  | 'triggerEvent';

const HOUR_MS = 60 * 60 * 1000;

export function webhookHandlers(parts: Parts): HandlersFor<WebhookOperation> {
  const { database, seal, pageTokens, clock, random, addressRuleFor: allowsFor } = parts;

  const getOwn = async (account: AccountId, id: WebhookId, db = database.read): Promise<WebhooksTable> => {
    const webhook = await findWebhook(db, account, id);
    if (!webhook) throw notFound(`There is no webhook ${quoteValue(id)}.`);
    return webhook;
  };
  /** Throws the 400 for an address that the caller may not give; returns whether the caller is on this machine. */
  const checkUrl = (url: string, headers: IncomingHttpHeaders): 0 | 1 => {
    const isGivenLocally = isLocalRequest(headers);
    const error = validateWebhookUrl(url, allowsFor(isGivenLocally));
    if (error !== null) throw badRequest(`endpoint_url is ${quoteValue(url)}; ${error}.`);
    return isGivenLocally ? 1 : 0;
  };
  /** Keeps other changes of the webhooks of the account waiting. */
  const hold = async (tx: Writer, account: AccountId): Promise<void> => {
    if (!(await lockAccount(tx, account))) throw unauthorized('The account of the token was deleted.');
  };

  return {
    async createWebhook({ caller, headers, body, remember }) {
      const given_locally = checkUrl(body.endpoint_url, headers);
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
        secret: sealSecret(seal, generateSecret(random), uid, caller.account),
        previous_secret: null,
        previous_until: null,
        disabled_at: null,
        created_at: now,
        updated_at: now,
      };
      const answer = { status: 201 as const, body: webhookBody(row) };
      await database.transact(async (tx) => {
        await remember(tx, answer);
        await hold(tx, caller.account);
        if (!(await insertWebhook(tx, row)))
          throw badRequest(
            `id is ${quoteValue(body.id)}, which another webhook of the account has; choose another.`,
          );
        if ((await countWebhooks(tx, caller.account)) > WEBHOOKS_MAX)
          throw badRequest(`The account has ${WEBHOOKS_MAX} webhooks, the most it can have; delete one.`);
        await addRunEventListener(tx, caller.account);
      });
      return answer;
    },

    async listWebhooks({ caller, query }) {
      return respondWithList(pageTokens, {
        tokenScope: `webhooks ${caller.account}`,
        query,
        queryRows: (page) => listWebhooks(database.read, caller.account, page),
        formatBodies: (rows) => rows.map(webhookBody),
      });
    },

    async getWebhook({ caller, params }) {
      return { status: 200, body: webhookBody(await getOwn(caller.account, params.webhook_id)) };
    },

    async updateWebhook({ caller, headers, params, body }) {
      const { event_types, endpoint_url, description } = body;
      const address =
        typeof endpoint_url === 'string'
          ? { endpoint_url, given_locally: checkUrl(endpoint_url, headers) }
          : {};
      const webhook = await getOwn(caller.account, params.webhook_id);
      const changes = {
        ...(event_types ? { event_types: JSON.stringify(event_types) } : {}),
        ...address,
        ...(typeof description === 'string' ? { description } : {}),
        disabled_at: null,
        updated_at: clock.now(),
      };
      await database.transact(async (tx) => {
        if (!(await updateWebhook(tx, webhook.uid, changes)))
          throw notFound(`There is no webhook ${quoteValue(params.webhook_id)}.`);
      });
      return { status: 204 };
    },

    async deleteWebhook({ caller, params }) {
      await database.transact(async (tx) => {
        await hold(tx, caller.account);
        const { uid } = await getOwn(caller.account, params.webhook_id, tx);
        await deleteWebhook(tx, uid);
        if ((await countWebhooks(tx, caller.account)) === 0) await removeRunEventListener(tx, caller.account);
      });
      parts.onWebhookDeleted();
      return { status: 204 };
    },

    async getWebhookSecret({ caller, params }) {
      const webhook = await getOwn(caller.account, params.webhook_id);
      const now = clock.now();
      const [secret] = openSigningSecrets(seal, webhook, now);
      return { status: 200, body: secretBody(webhook, secret, now) };
    },

    async rotateWebhookSecret({ caller, params, body, remember }) {
      const now = clock.now();
      const hours = body?.overlap_hours ?? SECRET_OVERLAP_HOURS_DEFAULT;
      const secret = generateSecret(random);
      return database.transact(async (tx) => {
        // Of two that change it at once, the later one has to find what the earlier one made.
        await hold(tx, caller.account);
        const webhook = await getOwn(caller.account, params.webhook_id, tx);
        const changes = {
          secret: sealSecret(seal, secret, webhook.uid, caller.account),
          previous_secret: hours === 0 ? null : webhook.secret,
          previous_until: hours === 0 ? null : now + hours * HOUR_MS,
          updated_at: now,
        };
        const answer = {
          status: 201 as const,
          body: secretBody({ ...webhook, ...changes }, secret, now),
        };
        await remember(tx, answer);
        await updateWebhook(tx, webhook.uid, changes);
        return answer;
      });
    },

    async listWebhookConversations({ caller, params, query }) {
      const webhook = await getOwn(caller.account, params.webhook_id);
      const list = `conversations ${webhook.uid} ${query.status ?? ''}`;
      const { after, limit } = parsePageRequest(pageTokens, list, query);
      const request = { after, limit: limit ?? PAGE_ITEMS_MAX };
      const rows = await listConversations(database.read, webhook.uid, query.status, request);
      const page = slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
      const items = page.items.map((row) => conversationBody(webhook, row));
      return { status: 200, body: formatPage(pageTokens, list, { ...page, items }) };
    },

    async getWebhookConversation({ caller, params }) {
      const webhook = await getOwn(caller.account, params.webhook_id);
      const row = await findConversation(database.read, webhook.uid, params.conversation_id);
      if (!row) throw noConversation(webhook, params.conversation_id);
      return { status: 200, body: conversationBody(webhook, row) };
    },

    async replayWebhookConversation({ caller, params, remember }) {
      const answer = await database.transact(async (tx) => {
        const webhook = await getOwn(caller.account, params.webhook_id, tx);
        const row = await findConversation(tx, webhook.uid, params.conversation_id);
        if (!row) throw noConversation(webhook, params.conversation_id);
        if (webhook.disabled_at !== null)
          throw badRequest(
            `webhook_id is ${quoteValue(webhook.id)}, which is disabled since its receiver answered 410; enable it with a PUT first.`,
          );
        const done = eventBody(row.event_id, [webhook]);
        const given = { status: 202 as const, body: done };
        await remember(tx, given);
        await insertDeliveries(tx, [
          {
            id: makeId<string>(random, 'delivery'),
            webhook_uid: webhook.uid,
            event_id: row.event_id,
            next_at: clock.now(),
          },
        ]);
        return given;
      });
      database.notify('webhooks-due');
      return answer;
    },

    async triggerEvent({ caller, body, remember }) {
      const now = clock.now();
      const answer = await database.transact(async (tx) => {
        const webhooks = await subscribersOf(tx, caller.account, body.event_type as EventType);
        const event: EventId = await enqueueDeliveries(parts, tx, webhooks, {
          event_type: body.event_type,
          created_at: now,
          sequence: 0,
          data: createExampleRun(caller.email, now),
        });
        const given = { status: 201 as const, body: eventBody(event, webhooks) };
        await remember(tx, given);
        return given;
      });
      database.notify('webhooks-due');
      return answer;
    },
  };
}

const noConversation = (webhook: WebhooksTable, id: string) =>
  notFound(`There is no conversation ${quoteValue(id)} of webhook ${quoteValue(webhook.id)}.`);

function webhookBody(row: WebhooksTable): Webhook {
  return {
    id: row.id,
    event_types: JSON.parse(row.event_types) as Webhook['event_types'],
    endpoint_url: row.endpoint_url,
    description: row.description,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
    ...(row.disabled_at === null ? {} : { disabled_at: formatRfc3339(row.disabled_at) }),
  };
}

function secretBody({ id, previous_until }: WebhooksTable, secret: string, now: number): WebhookSecret {
  const overlaps = previous_until !== null && previous_until > now;
  return { id, secret, ...(overlaps ? { previous_until: formatRfc3339(previous_until) } : {}) };
}

function conversationBody(webhook: WebhooksTable, row: ConversationWithBody): Conversation {
  return {
    id: row.id,
    webhook_id: webhook.id,
    event_id: row.event_id,
    attempt: row.attempt,
    created_at: formatRfc3339(row.created_at),
    status: row.status,
    http_status: row.http_status,
    response_duration: row.response_duration,
    error: row.error,
    ...(row.next_attempt_at === null ? {} : { next_attempt_at: formatRfc3339(row.next_attempt_at) }),
    request_body: JSON.parse(row.body) as WebhookEvent,
    response_body: row.response_body,
  };
}

const eventBody = (event_id: EventId, webhooks: readonly WebhooksTable[]) => ({
  event_id,
  webhook_ids: webhooks.map((one) => one.id),
});
