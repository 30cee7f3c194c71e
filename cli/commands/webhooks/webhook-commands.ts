/** Commands for webhooks. */
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { EVENT_TYPES } from '@switchyard/contract/account/event-types.ts';
import type { Conversation } from '@switchyard/contract/account/webhook-schemas.ts';
import { SECRET_OVERLAP_HOURS_DEFAULT, SECRET_OVERLAP_HOURS_MAX } from '@switchyard/contract/limits.ts';
import { CONVERSATION_STATUSES } from '@switchyard/contract/states.ts';
import { confirmDeletion } from '../../session/confirm.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems, readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine, cleanText } from '../../terminal/clean-text.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { formatFields } from '../../terminal/table.ts';
import { parseWholeNumber } from '../parse-values.ts';
import { printDeletedOne } from '../print-deleted.ts';
import { listen } from './listen.ts';

const DELIVERIES_DEFAULT = 20;
const DELIVERIES_MAX = 10_000;

/** Defines `webhooks` with its commands. */
export function defineWebhookCommands(program: Command, session: Session): void {
  const webhooks = program.command('webhooks').description('List, create and test webhooks.');
  webhooks
    .command('list', { isDefault: true })
    .description('List the webhooks of the account, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard webhooks list')
    .action(() => printWebhooks(session));
  webhooks
    .command('create')
    .description('Create a webhook.')
    .argument('<webhook>', 'The id of the webhook.')
    .requiredOption('--endpoint-url <url>', 'The address that receives the events.')
    .addOption(
      new Option('--event-types <type...>', 'The events to send.')
        .choices(EVENT_TYPES)
        .default(['run.status' as const]),
    )
    .option('--description <text>', 'The description.', '')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard webhooks create dispatch --endpoint-url https://example.com/hook',
    )
    .action(async (id, { endpointUrl: endpoint_url, eventTypes: event_types, description }) => {
      const { body } = await session
        .connect()
        .call('createWebhook', { body: { id, endpoint_url, event_types: [...event_types], description } });
      session.output.print({
        json: body,
        text: () =>
          `Created webhook ${body.id}. Print its secret with: switchyard webhooks secret ${body.id}\n`,
        quiet: () => body.id,
      });
    });
  webhooks
    .command('delete')
    .description('Delete a webhook. Deliveries that wait are dropped.')
    .argument('<webhook>', 'The id of the webhook.')
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard webhooks delete dispatch --yes')
    .action(async (webhook_id, { yes }) => {
      await confirmDeletion(session, { what: `Delete the webhook ${webhook_id}?`, word: webhook_id, yes });
      await session.connect().call('deleteWebhook', { params: { webhook_id } });
      printDeletedOne(session, 'webhook', webhook_id);
    });
  defineSecrets(webhooks, session);
  defineDeliveries(webhooks, session);
  defineListen(webhooks, session);
}

function defineSecrets(webhooks: Pick<Command, 'command'>, session: Session): void {
  webhooks
    .command('secret')
    .description('Print the secret that signs the deliveries of a webhook.')
    .argument('<webhook>', 'The id of the webhook.')
    .addHelpText('after', '\nExample:\n  switchyard webhooks secret dispatch > secret')
    .action(async (webhook_id) => {
      const { body } = await session.connect().call('getWebhookSecret', { params: { webhook_id } });
      session.output.print({ json: body, text: () => `${body.secret}\n`, quiet: () => body.secret });
    });
  webhooks
    .command('rotate-secret')
    .description(
      'Replace the secret of a webhook, and print the new one. For a time the old one signs every delivery too.',
    )
    .argument('<webhook>', 'The id of the webhook.')
    .option(
      '--overlap-hours <hours>',
      `Hours in which the old secret signs too, 0 to ${SECRET_OVERLAP_HOURS_MAX}; otherwise ${SECRET_OVERLAP_HOURS_DEFAULT}.`,
      parseWholeNumber(0, SECRET_OVERLAP_HOURS_MAX),
    )
    .addHelpText(
      'after',
      '\nExample:\n  switchyard webhooks rotate-secret dispatch --overlap-hours 2 > secret',
    )
    .action((webhook_id, { overlapHours }) => rotateSecret(session, webhook_id, overlapHours));
}

async function rotateSecret(
  session: Session,
  webhook_id: string,
  overlap_hours: number | undefined,
): Promise<void> {
  const { body } = await session
    .connect()
    .call('rotateWebhookSecret', { params: { webhook_id }, body: dropUndefined({ overlap_hours }) });
  if (body.previous_until) session.output.note(`The old secret signs too until ${body.previous_until}.`);
  session.output.print({ json: body, text: () => `${body.secret}\n`, quiet: () => body.secret });
}

function defineDeliveries(webhooks: Pick<Command, 'command'>, session: Session): void {
  webhooks
    .command('deliveries')
    .description('List the attempts to deliver events to a webhook, the newest first.')
    .argument('<webhook>', 'The id of the webhook.')
    .addOption(
      new Option('--status <status>', 'Only attempts with this status.').choices(CONVERSATION_STATUSES),
    )
    .option(
      '--limit <count>',
      'The number of attempts.',
      parseWholeNumber(1, DELIVERIES_MAX),
      DELIVERIES_DEFAULT,
    )
    .addHelpText('after', '\nExample:\n  switchyard webhooks deliveries dispatch --status failed')
    .action((webhook_id, { status, limit }) => printDeliveries(session, webhook_id, { status, limit }));
  webhooks
    .command('delivery')
    .description('Print a delivery with the event, and the response of the receiver.')
    .argument('<webhook>', 'The id of the webhook.')
    .argument('<delivery>', 'The id of the delivery.')
    .addHelpText('after', '\nExample:\n  switchyard webhooks delivery dispatch talk-01jd3v7k9mq2z5x8')
    .action(async (webhook_id, conversation_id) => {
      const params = { webhook_id, conversation_id };
      printDelivery(session, (await session.connect().call('getWebhookConversation', { params })).body);
    });
  webhooks
    .command('resend')
    .description('Send the event of a delivery again, with the same id and a new signature.')
    .argument('<webhook>', 'The id of the webhook.')
    .argument('<delivery>', 'The id of the delivery.')
    .addHelpText('after', '\nExample:\n  switchyard webhooks resend dispatch talk-01jd3v7k9mq2z5x8')
    .action(async (webhook_id, conversation_id) => {
      const { body } = await session
        .connect()
        .call('replayWebhookConversation', { params: { webhook_id, conversation_id } });
      session.output.print({
        json: body,
        text: () => `Sending ${body.event_id} again.\n`,
        quiet: () => body.event_id,
      });
    });
  webhooks
    .command('test')
    .description('Send an example of an event to every webhook of the account that has its type.')
    .addOption(
      new Option('--event-type <type>', 'The event to send.')
        .choices(EVENT_TYPES)
        .default('run.status' as const),
    )
    .addHelpText('after', '\nExample:\n  switchyard webhooks test --event-type experiment.status')
    .action(async ({ eventType: event_type }) => {
      const { body } = await session.connect().call('triggerEvent', { body: { event_type } });
      session.output.print({
        json: body,
        text: () =>
          body.webhook_ids.length === 0
            ? `No webhook has the event ${event_type}.\n`
            : `Sending ${body.event_id} to ${body.webhook_ids.map(cleanLine).join(', ')}.\n`,
        quiet: () => body.event_id,
      });
    });
}

function defineListen(webhooks: Pick<Command, 'command'>, session: Session): void {
  webhooks
    .command('listen')
    .description(
      'Forward changes of runs and experiments to a program on this machine, signed as deliveries of a webhook, until Ctrl-C. The server sees no webhook: the command follows the events of the account, so it works behind a firewall. Of changes within a moment only the last of each run is sent.',
    )
    .requiredOption(
      '--forward <url>',
      'The address of the program, such as http://localhost:3000/hook.',
      parseUrl,
    )
    .option(
      '--webhook <id>',
      'Sign with the secret of this webhook; otherwise with a new one, which is printed.',
    )
    .addHelpText('after', '\nExample:\n  switchyard webhooks listen --forward http://localhost:3000/hook')
    .action(({ forward, webhook }) => listen(session, forward, webhook));
}

function parseUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must begin with http:// or https://.');
}

async function printWebhooks(session: Session): Promise<void> {
  const { body } = await session.connect().call('listWebhooks');
  session.output.printTable(
    listItems(body),
    [
      { title: 'WEBHOOK', value: ({ id }) => id },
      { title: 'EVENTS', value: ({ event_types }) => event_types.join(', ') },
      { title: 'ENDPOINT', value: ({ endpoint_url }) => endpoint_url },
      {
        title: 'STATUS',
        value: ({ disabled_at }) => (disabled_at ? `disabled since ${disabled_at}` : 'enabled'),
        tone: ({ disabled_at }) => (disabled_at ? 'bad' : undefined),
      },
    ],
    { json: body, empty: 'The account has no webhooks.', id: ({ id }) => id },
  );
}

async function printDeliveries(
  session: Session,
  webhook_id: string,
  { status, limit }: { status: (typeof CONVERSATION_STATUSES)[number] | undefined; limit: number },
): Promise<void> {
  const body = await readPages(limit, async (page) => {
    const request = { params: { webhook_id }, query: { ...page, ...dropUndefined({ status }) } };
    return (await session.connect().call('listWebhookConversations', request)).body;
  });
  const now = Date.now();
  session.output.printTable(
    body.items,
    [
      { title: 'DELIVERY', value: ({ id }) => id },
      { title: 'EVENT', value: ({ request_body }) => request_body.event_type },
      {
        title: 'STATUS',
        value: (delivery) => delivery.status,
        tone: (delivery) => (delivery.status === 'succeeded' ? 'good' : 'bad'),
      },
      { title: 'HTTP', value: ({ http_status }) => http_status ?? '', isNumeric: true },
      { title: 'MS', value: ({ response_duration }) => response_duration, isNumeric: true },
      { title: 'SENT', value: ({ created_at }) => formatAge(Date.parse(created_at), now) },
      { title: 'ERROR', value: ({ error }) => error },
    ],
    { json: body, empty: `The webhook ${webhook_id} has no such deliveries.`, id: ({ id }) => id },
  );
}

function printDelivery({ output }: Session, delivery: Conversation): void {
  const { request_body, response_body } = delivery;
  output.print({
    json: delivery,
    text: () =>
      [
        formatFields({
          delivery: delivery.id,
          event: `${request_body.event_type} ${delivery.event_id}`,
          attempt: delivery.attempt,
          sent: delivery.created_at,
          status: delivery.status,
          'http status': delivery.http_status || undefined,
          'response after': `${delivery.response_duration} ms`,
          error: delivery.error,
          'next attempt': delivery.next_attempt_at,
        }),
        `Event\n${cleanText(JSON.stringify(request_body, null, 2))}\n`,
        ...(response_body === '' ? [] : [`Response\n${cleanText(response_body)}\n`]),
      ].join('\n'),
    quiet: () => delivery.id,
  });
}
