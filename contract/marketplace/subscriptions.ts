/**
 * A subscription gives an account an application whose versions another account publishes. Its runs, inputs and instances
 * belong to the subscriber.
 */
import Type, { type Static } from 'typebox';
import { defineOperation, respond } from '../operation.ts';
import { stringEnum, timestampSchema } from '../schemas/field-schemas.ts';
import { type ApplicationId, idReferenceSchema, idSchema } from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';

const SUBSCRIPTION_STATES = ['active', 'retracted', 'unsubscribed', 'ended'] as const;
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number];

const Subscription = Type.Object(
  {
    subscription_id: idSchema<string>(
      'Id of the subscription: the id of the partner, a hyphen, the id of the app.',
    ),
    partner_name: Type.String({ description: 'Name of the account that publishes the app.' }),
    app_title: Type.String({ description: 'Title of the app.' }),
    subscription_date: timestampSchema('Time of the subscription'),
    application_id: idSchema<ApplicationId>('Application of the subscriber, which runs the app.'),
    application_name: Type.String({ description: 'Name of that application.' }),
    state: stringEnum(
      SUBSCRIPTION_STATES.filter((state) => state !== 'unsubscribed'),
      'active: the application accepts runs. retracted: the partner has retracted the app. ended: the partner has deleted it.',
    ),
  },
  { $id: 'Subscription', description: 'A subscription of the account.' },
);
export type Subscription = Static<typeof Subscription>;

const SubscriptionCreate = Type.Object(
  { subscription_id: idReferenceSchema<string>('`subscription_id` of an app of the marketplace.') },
  { $id: 'SubscriptionCreate', additionalProperties: false, description: 'The app to subscribe to.' },
);

const SubscriptionParams = Type.Object({
  subscription_id: idSchema<string>('Id of the subscription.'),
});

const example = {
  subscription_id: 'account-1-quay',
  partner_name: 'Main account',
  app_title: 'Quay planning',
  subscription_date: '2026-11-20T08:00:00.000Z',
  application_id: 'quay',
  application_name: 'Quay planning',
  state: 'active',
} as const;
const response = { description: 'The subscription.', schema: Subscription, example };

export const createSubscription = defineOperation({
  id: 'createSubscription',
  method: 'POST',
  path: '/v1/marketplace/subscriptions',
  tag: 'marketplace',
  summary: 'Subscribe to an app',
  description:
    'Subscribes the account to a released app, and creates an application of the type `subscription` with the published versions. Its id is that of the app in the marketplace, with a random suffix where the account has the id already. A new subscription after an end reuses the application of the earlier one. The partner sees the name of your account in its audit log, and none of your runs.',
  right: 'write',
  body: { schema: SubscriptionCreate, example: { subscription_id: 'account-1-quay' } },
  responses: { 201: response },
});

export const listSubscriptions = defineOperation({
  id: 'listSubscriptions',
  method: 'GET',
  path: '/v1/marketplace/subscriptions',
  tag: 'marketplace',
  summary: 'List subscriptions',
  description: 'Lists the subscriptions of the account.',
  right: 'read',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The subscriptions, newest first.', pageOrArray(Subscription), [example]),
});

export const getSubscription = defineOperation({
  id: 'getSubscription',
  method: 'GET',
  path: '/v1/marketplace/subscriptions/{subscription_id}',
  tag: 'marketplace',
  summary: 'Get a subscription',
  description: 'Returns one subscription of the account.',
  right: 'read',
  params: SubscriptionParams,
  responses: { 200: response },
});

export const deleteSubscription = defineOperation({
  id: 'deleteSubscription',
  method: 'DELETE',
  path: '/v1/marketplace/subscriptions/{subscription_id}',
  tag: 'marketplace',
  summary: 'End a subscription',
  description:
    'Ends a subscription. The application stays with its runs, which remain readable; accepted runs finish, and new ones return 400. Delete the application to remove them.',
  right: 'write',
  params: SubscriptionParams,
  responses: { 204: { description: 'The subscription has ended.' } },
});
