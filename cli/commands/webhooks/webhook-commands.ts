/** Commands for webhooks. */
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { Conversation } from '@switchyard/contract/account/webhook-schemas.ts';
import { SECRET_OVERLAP_HOURS_DEFAULT, SECRET_OVERLAP_HOURS_MAX } from '@switchyard/contract/limits.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine, cleanText } from '../../terminal/clean-text.ts';
import { age, count } from '../../terminal/columns.ts';
import { formatFields } from '../../terminal/table.ts';
import { parseWholeNumber } from '../parse-values.ts';
import { defineCommand, type Field, type Parent } from '../resource/define-command.ts';
import { defineList, defineResource } from '../resource/define-resource.ts';
import { listen } from './listen.ts';

const webhook_id: Field = ['<webhook>', 'The id of the webhook.'];
const conversation_id: Field = ['<delivery>', 'The id of the delivery.'];

export const defineWebhookCommands = defineResource({
  name: 'webhooks',
  noun: 'webhook',
  text: 'List, create and test webhooks.',
  list: {
    operation: 'listWebhooks',
    text: 'List the webhooks of the account, the newest first.',
    columns: {
      WEBHOOK: 'id',
      EVENTS: ({ event_types }) => event_types.join(', '),
      ENDPOINT: 'endpoint_url',
      STATUS: {
        value: ({ disabled_at }) => (disabled_at ? `disabled since ${disabled_at}` : 'enabled'),
        tone: ({ disabled_at }) => (disabled_at ? 'bad' : undefined),
      },
    },
  },
  create: {
    operation: 'createWebhook',
    text: 'Create a webhook.',
    options: {
      endpoint_url: ['<url>', 'The address that receives the events.'],
      event_types: ['<type...>', 'The events to send.', { initial: ['run.status'] }],
      description: ['<text>', 'The description.', { initial: '' }],
    },
    example: 'dispatch --endpoint-url https://example.com/hook',
    done: ({ id }) => `Created webhook ${id}. Print its secret with: switchyard webhooks secret ${id}`,
  },
  remove: {
    operation: 'deleteWebhook',
    text: 'Delete a webhook. Deliveries that wait are dropped.',
    confirm: true,
    example: 'dispatch --yes',
  },
  more: (webhooks, session) => {
    defineSecrets(webhooks, session);
    defineDeliveries(webhooks, session);
    defineListen(webhooks, session);
  },
});

function defineSecrets(webhooks: Parent, session: Session): void {
  defineCommand(webhooks, session, {
    name: 'secret',
    operation: 'getWebhookSecret',
    text: 'Print the secret that signs the deliveries of a webhook.',
    arguments: { webhook_id },
    example: 'dispatch > secret',
    print: ({ output }, body) => output.printSentence(body, body.secret, body.secret),
  });
  defineCommand(webhooks, session, {
    name: 'rotate-secret',
    operation: 'rotateWebhookSecret',
    text: 'Replace the secret of a webhook, and print the new one. For a time the old one signs every delivery too.',
    arguments: { webhook_id },
    options: {
      overlap_hours: [
        '<hours>',
        `Hours in which the old secret signs too, 0 to ${SECRET_OVERLAP_HOURS_MAX}; otherwise ${SECRET_OVERLAP_HOURS_DEFAULT}.`,
      ],
    },
    example: 'dispatch --overlap-hours 2 > secret',
    print: (_session, body) => {
      if (body.previous_until) session.output.note(`The old secret signs too until ${body.previous_until}.`);
      session.output.printSentence(body, body.secret, body.secret);
    },
  });
}

function defineDeliveries(webhooks: Command, session: Session): void {
  defineList(webhooks, session, {
    name: 'deliveries',
    operation: 'listWebhookConversations',
    text: 'List the attempts to deliver events to a webhook, the newest first.',
    arguments: { webhook_id },
    options: { status: ['<status>', 'Only attempts with this status.'] },
    limit: { text: 'The number of attempts.', initial: 20, parse: parseWholeNumber(1, 10_000) },
    columns: {
      DELIVERY: 'id',
      EVENT: ({ request_body }) => request_body.event_type,
      STATUS: {
        value: ({ status }) => status,
        tone: ({ status }) => (status === 'succeeded' ? 'good' : 'bad'),
      },
      HTTP: { value: ({ http_status }) => http_status, isNumeric: true },
      MS: count('response_duration'),
      SENT: age('created_at'),
      ERROR: 'error',
    },
    empty: (values) => `The webhook ${values.webhook_id} has no such deliveries.`,
    example: 'dispatch --status failed',
  });
  defineCommand(webhooks, session, {
    name: 'delivery',
    operation: 'getWebhookConversation',
    text: 'Print a delivery with the event, and the response of the receiver.',
    arguments: { webhook_id, conversation_id },
    example: 'dispatch talk-01jd3v7k9mq2z5x8',
    print: printDelivery,
  });
  defineCommand(webhooks, session, {
    name: 'resend',
    operation: 'replayWebhookConversation',
    text: 'Send the event of a delivery again, with the same id and a new signature.',
    arguments: { webhook_id, conversation_id },
    example: 'dispatch talk-01jd3v7k9mq2z5x8',
    id: 'event_id',
    done: ({ event_id }) => `Sending ${event_id} again.`,
  });
  defineCommand(webhooks, session, {
    name: 'test',
    operation: 'triggerEvent',
    text: 'Send an example of an event to every webhook of the account that has its type.',
    options: { event_type: ['<type>', 'The event to send.', { initial: 'run.status' }] },
    example: '--event-type experiment.status',
    id: 'event_id',
    done: ({ event_id, webhook_ids }, { event_type }) =>
      webhook_ids.length === 0
        ? `No webhook has the event ${event_type}.`
        : `Sending ${event_id} to ${webhook_ids.map(cleanLine).join(', ')}.`,
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
