/** Commands for subscriptions to apps of the marketplace. */
import type { Command } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { confirmDeletion } from '../../session/confirm.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { formatFields } from '../../terminal/table.ts';

type Subscription = CallResponse<Operations['getSubscription']>['body'];

/** Defines `subscriptions` with its commands. */
export function defineSubscriptionCommands(program: Command, session: Session): void {
  const subscriptions = program
    .command('subscriptions')
    .description('List, create and end subscriptions to apps of the marketplace.');
  subscriptions
    .command('list', { isDefault: true })
    .description('List the subscriptions of the account, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard subscriptions list')
    .action(() => printSubscriptions(session));
  subscriptions
    .command('get')
    .description('Print a subscription with the application that runs the app.')
    .argument('<subscription>', 'The id of the subscription.')
    .addHelpText('after', '\nExample:\n  switchyard subscriptions get account-1-quay')
    .action(async (subscription_id) => {
      const { body } = await session.connect().call('getSubscription', { params: { subscription_id } });
      printSubscription(session, body);
    });
  subscriptions
    .command('create')
    .description('Subscribe to a released app. The server creates an application with its versions.')
    .argument('<subscription>', 'The id of the subscription, as "switchyard marketplace list" prints it.')
    .addHelpText('after', '\nExample:\n  switchyard subscriptions create account-1-quay')
    .action(async (subscription_id) => {
      const { body } = await session.connect().call('createSubscription', { body: { subscription_id } });
      session.output.print({
        json: body,
        text: () =>
          `Subscribed to ${cleanLine(body.app_title)}. Run it as application ${body.application_id}.\n`,
        quiet: () => body.application_id,
      });
    });
  subscriptions
    .command('delete')
    .description('End a subscription. Its application and runs stay, and it creates no run any more.')
    .argument('<subscription>', 'The id of the subscription.')
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard subscriptions delete account-1-quay')
    .action(async (subscription_id, { yes }) => {
      const what = `End the subscription ${subscription_id}?`;
      await confirmDeletion(session, { what, word: subscription_id, yes });
      await session.connect().call('deleteSubscription', { params: { subscription_id } });
      session.output.print({
        json: { deleted: subscription_id },
        text: () => `Ended the subscription ${subscription_id}.\n`,
        quiet: () => subscription_id,
      });
    });
}

async function printSubscriptions(session: Session): Promise<void> {
  const { body } = await session.connect().call('listSubscriptions');
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'SUBSCRIPTION', value: ({ subscription_id }) => subscription_id },
      { title: 'APP', value: ({ app_title }) => app_title },
      { title: 'PARTNER', value: ({ partner_name }) => partner_name },
      { title: 'APPLICATION', value: ({ application_id }) => application_id },
      { title: 'STATE', value: ({ state }) => state },
      { title: 'SINCE', value: ({ subscription_date }) => formatAge(Date.parse(subscription_date), now) },
    ],
    {
      json: body,
      empty: 'The account has no subscriptions. List the apps with: switchyard marketplace list',
      id: ({ subscription_id }) => subscription_id,
    },
  );
}

function printSubscription({ output }: Session, subscription: Subscription): void {
  output.print({
    json: subscription,
    text: () =>
      formatFields({
        subscription: subscription.subscription_id,
        app: subscription.app_title,
        partner: subscription.partner_name,
        application: subscription.application_id,
        state: subscription.state,
        since: subscription.subscription_date,
      }),
    quiet: () => subscription.subscription_id,
  });
}
