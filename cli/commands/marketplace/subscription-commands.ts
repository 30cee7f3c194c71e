/** Commands for subscriptions to apps of the marketplace. */
import { cleanLine } from '../../terminal/clean-text.ts';
import { age } from '../../terminal/columns.ts';
import { defineResource } from '../resource/define-resource.ts';

/** Defines `subscriptions` with its commands. */
export const defineSubscriptionCommands = defineResource({
  name: 'subscriptions',
  noun: 'subscription',
  text: 'List, create and end subscriptions to apps of the marketplace.',
  id: 'subscription_id',
  list: {
    operation: 'listSubscriptions',
    text: 'List the subscriptions of the account, the newest first.',
    columns: {
      SUBSCRIPTION: 'subscription_id',
      APP: 'app_title',
      PARTNER: 'partner_name',
      APPLICATION: 'application_id',
      STATE: 'state',
      SINCE: age('subscription_date'),
    },
    empty: 'The account has no subscriptions. List the apps with: switchyard marketplace list',
  },
  get: { operation: 'getSubscription', text: 'Print a subscription with the application that runs the app.' },
  create: {
    operation: 'createSubscription',
    text: 'Subscribe to a released app. The server creates an application with its versions.',
    arguments: {
      subscription_id: [
        '<subscription>',
        'The id of the subscription, as "switchyard marketplace list" prints it.',
      ],
    },
    example: 'account-1-quay',
    id: 'application_id',
    done: ({ app_title, application_id }) =>
      `Subscribed to ${cleanLine(app_title)}. Run it as application ${application_id}.`,
  },
  remove: {
    operation: 'deleteSubscription',
    text: 'End a subscription. Its application and runs stay, and it creates no run any more.',
    confirm: (id) => `End the subscription ${id}?`,
    example: 'account-1-quay',
    print: ({ output }, _body, { subscription_id }) => {
      const id = String(subscription_id);
      output.printSentence({ deleted: id }, `Ended the subscription ${id}.`, id);
    },
  },
  show: (subscription) => ({
    subscription: subscription.subscription_id,
    app: subscription.app_title,
    partner: subscription.partner_name,
    application: subscription.application_id,
    state: subscription.state,
    since: subscription.subscription_date,
  }),
});
