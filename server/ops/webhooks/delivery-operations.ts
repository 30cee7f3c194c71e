/** Operations on the deliveries of webhooks: conversations, replays and test events. */
import type {
  ExperimentInfo,
  QueueProblemInfo,
  RunInfo,
} from '@switchyard/contract/account/webhook-schemas.ts';
import { EXECUTION_CLASS_DEFAULT } from '@switchyard/contract/execution-classes.ts';
import { PAGE_ITEMS_MAX, PRIORITY_DEFAULT } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import { badRequest, notFound, type Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatPage, parsePageRequest, slicePage } from '../../platform/http/lists/pagination.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { makeId } from '../../platform/random.ts';
import { enqueueDeliveries, listSubscribedWebhooks } from './fan-out.ts';
import { formatConversation, formatEvent } from './format-webhook.ts';
import { insertDeliveries } from './outbox.ts';
import type { WebhooksTable } from './schema.ts';
import * as store from './store.ts';

const EXAMPLE_RUN_ID = 'run-example' as RunId;

/** Returns a succeeded run that does not exist, in the form in which events contain runs. */
function createExampleRun(email: string, at: number): RunInfo {
  return {
    id: EXAMPLE_RUN_ID,
    user_email: email,
    name: 'An example',
    description: 'Made up to try a webhook; there is no such run.',
    status: 'succeeded',
    status_v2: 'succeeded',
    created_at: formatRfc3339(at),
    application_id: 'application-example',
    application_instance_id: 'latest',
    application_version_id: '',
    run_type: { type: 'standard', definition_id: null, reference_id: null },
    execution_class: EXECUTION_CLASS_DEFAULT,
    runtime: 'node',
    queuing_priority: PRIORITY_DEFAULT,
    queuing_disabled: false,
    statistics: { status: 'success', error: '', indicators: [{ name: 'result.value', value: 42 }] },
  };
}

/** Returns a completed experiment that does not exist, in the form in which events contain experiments. */
function createExampleExperiment(email: string, at: number): ExperimentInfo {
  return {
    id: 'experiment-example',
    application_id: 'application-example',
    type: 'batch',
    name: 'An example',
    description: 'Made up to try a webhook; there is no such experiment.',
    status: 'completed',
    user_email: email,
    created_at: formatRfc3339(at),
    updated_at: formatRfc3339(at),
  };
}

/** Returns a problem that does not exist, in the form in which events contain it. */
function createExampleProblem(publicUrl: string, at: number): QueueProblemInfo {
  return {
    id: 'problem-example',
    kind: 'run_waiting',
    status: 'begun',
    message: 'Made up to try a webhook; no run waits.',
    remedy: 'Nothing to do.',
    since: formatRfc3339(at),
    count: 1,
    run_ids: [EXAMPLE_RUN_ID],
    worker_ids: [],
    console_url: `${publicUrl}/console/queue`,
  };
}

export const listWebhookConversations: OperationHandler<'listWebhookConversations'> = async (
  { database, pageTokens, log },
  { caller, params, query },
) => {
  const webhook = await store.getWebhook(database.read, caller.account, params.webhook_id);
  const tokenScope = `conversations ${webhook.uid} ${query.status ?? ''}`;
  const { after, limit } = parsePageRequest(pageTokens, tokenScope, query);
  const request = { after, limit: limit ?? PAGE_ITEMS_MAX };
  const rows = await store.listConversations(database.read, webhook.uid, query.status, request);
  const page = slicePage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  const items = await formatReadableRows(log, page.items, (some) =>
    some.map((row) => formatConversation(webhook, row)),
  );
  return { status: 200, body: formatPage(pageTokens, tokenScope, { ...page, items }) };
};

export const getWebhookConversation: OperationHandler<'getWebhookConversation'> = async (
  { database },
  { caller, params },
) => {
  const webhook = await store.getWebhook(database.read, caller.account, params.webhook_id);
  const row = await store.findConversation(database.read, webhook.uid, params.conversation_id);
  if (!row) throw conversationNotFound(webhook, params.conversation_id);
  return { status: 200, body: formatConversation(webhook, row) };
};

export const replayWebhookConversation: OperationHandler<'replayWebhookConversation'> = async (
  { database, clock, random },
  { caller, params, commit },
) => {
  const committed = await commit(async (tx) => {
    const webhook = await store.getWebhook(tx, caller.account, params.webhook_id);
    const row = await store.findConversation(tx, webhook.uid, params.conversation_id);
    if (!row) throw conversationNotFound(webhook, params.conversation_id);
    if (webhook.disabled_at !== null)
      throw badRequest(
        `webhook_id is ${quoteValue(webhook.id)}, which is disabled; enable it with a PUT first.`,
      );
    await insertDeliveries(tx, [
      {
        id: makeId<string>(random, 'delivery'),
        webhook_uid: webhook.uid,
        event_id: row.event_id,
        next_at: clock.now(),
      },
    ]);
    return { status: 202, body: formatEvent(row.event_id, [webhook]) };
  });
  database.notify('webhooks-due');
  return committed;
};

export const triggerEvent: OperationHandler<'triggerEvent'> = async (context, { caller, body, commit }) => {
  const now = context.clock.now();
  const createExampleData = {
    'run.status': () => createExampleRun(caller.email, now),
    'experiment.status': () => createExampleExperiment(caller.email, now),
    'queue.trouble': () => createExampleProblem(context.publicUrl(), now),
  }[body.event_type];
  const committed = await commit(async (tx) => {
    const webhooks = await listSubscribedWebhooks(tx, caller.account, body.event_type);
    const event = await enqueueDeliveries(context, tx, webhooks, {
      event_type: body.event_type,
      created_at: now,
      sequence: 0,
      data: createExampleData(),
    });
    return { status: 201, body: formatEvent(event, webhooks) };
  });
  context.database.notify('webhooks-due');
  return committed;
};

function conversationNotFound(webhook: WebhooksTable, id: string): Problem {
  return notFound(`There is no conversation ${quoteValue(id)} of webhook ${quoteValue(webhook.id)}.`);
}
