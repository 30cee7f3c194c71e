/**
 * The marketplace of one server: an account publishes an application, and other accounts subscribe to it. A partner is an
 * account that publishes; its id is the id of the account.
 */
import Type, { type Static } from 'typebox';
import {
  ALLOWED_WORKER_TOKENS_MAX,
  CHANGE_LOG_ENTRIES_MAX,
  CHANGE_LOG_ENTRY_CHARS_MAX,
  LATEST_VERSIONS_MAX,
  MARKETPLACE_DESCRIPTION_CHARS_MAX,
  MARKETPLACE_LABELS_MAX,
  MARKETPLACE_VERSIONS_MAX,
  NAME_CHARS_MAX,
} from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { conditionFields } from '../schemas/conditional-writes.ts';
import {
  nameSchema,
  nameTextSchema,
  nullable,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import {
  type AccountId,
  type ApplicationId,
  idReferenceSchema,
  idSchema,
  newIdSchema,
  type VersionId,
  type WorkerTokenId,
} from '../schemas/ids.ts';
import { PageQuery, pageOrArray } from '../schemas/paging.ts';

/** Only the partner sees an app before its release. After a retraction, subscribers create no more runs. */
const MARKETPLACE_STATES = ['pre-release', 'released', 'retracted'] as const;
export type MarketplaceState = (typeof MARKETPLACE_STATES)[number];

const state = stringEnum(
  MARKETPLACE_STATES,
  'pre-release: only the partner sees the app. released: every account can subscribe. retracted: no new subscriptions, and no new runs of subscribers.',
);
const description = textSchema(
  `Description of the app, at most ${MARKETPLACE_DESCRIPTION_CHARS_MAX} characters.`,
  { max: MARKETPLACE_DESCRIPTION_CHARS_MAX },
);
const labels = (noun: string) =>
  Type.Array(nameTextSchema(`A ${noun}.`, { min: 1, max: NAME_CHARS_MAX }), {
    maxItems: MARKETPLACE_LABELS_MAX,
    description: `At most ${MARKETPLACE_LABELS_MAX}, for readers of the list.`,
  });

export const MarketplaceApp = Type.Object(
  {
    id: idSchema<ApplicationId>('Id of the app in the marketplace.'),
    partner_id: idSchema<AccountId>('Id of the account that publishes it.'),
    partner_name: Type.String({ description: 'Name of that account.' }),
    title: Type.String({ description: 'Title of the app.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    categories: Type.Array(Type.String(), { description: 'Categories of the app.' }),
    features: Type.Array(Type.String(), { description: 'Features of the app.' }),
    state,
    ref_app_id: nullable(idSchema<ApplicationId>('Application that is published; null for other accounts.')),
    latest_versions: Type.Array(Type.String(), {
      description: `Ids of the newest published versions, at most ${LATEST_VERSIONS_MAX}, newest first.`,
    }),
    worker_tokens: nullable(
      Type.Array(idSchema<WorkerTokenId>('Id of a worker token.'), {
        description:
          'The worker tokens of subscribers whose workers receive the program; null for other accounts.',
      }),
    ),
    subscription_id: idSchema<string>('Id with which other accounts subscribe.'),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'MarketplaceApp', description: 'A published application.' },
);
export type MarketplaceApp = Static<typeof MarketplaceApp>;

const MarketplaceAppCreate = Type.Object(
  {
    id: newIdSchema<ApplicationId>('app in the marketplace'),
    ref_app_id: idReferenceSchema<ApplicationId>('Application to publish.'),
    title: nameSchema('app in the marketplace'),
    description: optionalNullable(description),
    categories: optionalNullable(labels('category')),
    features: optionalNullable(labels('feature')),
  },
  { $id: 'MarketplaceAppCreate', additionalProperties: false, description: 'The app to publish.' },
);

const MarketplaceAppUpdate = Type.Object(
  {
    title: optionalNullable(nameSchema('app in the marketplace')),
    description: optionalNullable(description),
    categories: optionalNullable(labels('category')),
    features: optionalNullable(labels('feature')),
    state: optionalNullable(state),
    worker_tokens: optionalNullable(
      Type.Array(idReferenceSchema<WorkerTokenId>('Id of a worker token.'), {
        maxItems: ALLOWED_WORKER_TOKENS_MAX,
        uniqueItems: true,
        description:
          'The worker tokens of subscribers whose workers may execute their runs of the app, and so receive its program; an empty list allows none.',
      }),
    ),
    ...conditionFields,
  },
  { $id: 'MarketplaceAppUpdate', description: 'The fields to change. Others may have their present values.' },
);

const changeLog = Type.Array(textSchema('A change.', { min: 1, max: CHANGE_LOG_ENTRY_CHARS_MAX }), {
  maxItems: CHANGE_LOG_ENTRIES_MAX,
  description: `Changes of the version, at most ${CHANGE_LOG_ENTRIES_MAX}.`,
});

const MarketplaceVersion = Type.Object(
  {
    id: idSchema<VersionId>('Id of the version in the marketplace.'),
    app_id: idSchema<ApplicationId>('Id of the app in the marketplace.'),
    partner_id: idSchema<AccountId>('Id of the account that publishes it.'),
    change_log: Type.Array(Type.String(), { description: 'Changes of the version.' }),
    ref_app_version_id: nullable(idSchema<VersionId>('Version of the application; null for other accounts.')),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'MarketplaceVersion', description: 'A published version.' },
);
export type MarketplaceVersion = Static<typeof MarketplaceVersion>;

const MarketplaceVersionCreate = Type.Object(
  {
    id: newIdSchema<VersionId>('version in the marketplace'),
    ref_app_version_id: idReferenceSchema<VersionId>('Version of the application to publish.'),
    change_log: optionalNullable(changeLog),
  },
  { $id: 'MarketplaceVersionCreate', additionalProperties: false, description: 'The version to publish.' },
);

const MarketplaceVersionUpdate = Type.Object(
  { change_log: optionalNullable(changeLog), ...conditionFields },
  {
    $id: 'MarketplaceVersionUpdate',
    description: 'The fields to change. Others may have their present values.',
  },
);

const PartnerParams = Type.Object({ partner_id: idSchema<AccountId>('Id of the account that publishes.') });
const AppParams = Type.Object({
  ...PartnerParams.properties,
  marketplace_app_id: idSchema<ApplicationId>('Id of the app in the marketplace.'),
});
const VersionParams = Type.Object({
  ...AppParams.properties,
  marketplace_version_id: idSchema<VersionId>('Id of the version in the marketplace.'),
});

const example = {
  id: 'quay',
  partner_id: 'account-1',
  partner_name: 'Main account',
  title: 'Quay planning',
  description: 'Assigns ships to berths',
  categories: ['ports'],
  features: ['berths'],
  state: 'released',
  ref_app_id: 'quay',
  latest_versions: ['v1'],
  worker_tokens: [],
  subscription_id: 'account-1-quay',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
} as const;
const versionExample = {
  id: 'v1',
  app_id: 'quay',
  partner_id: 'account-1',
  change_log: ['First version'],
  ref_app_version_id: 'v1',
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};
const appResponse = { description: 'The app.', schema: MarketplaceApp, example };
const versionResponse = { description: 'The version.', schema: MarketplaceVersion, example: versionExample };
const VISIBILITY =
  'The partner sees all apps that it has published. Other accounts see released apps, and apps to which they subscribe.';

export const listMarketplaceApps = defineOperation({
  id: 'listMarketplaceApps',
  method: 'GET',
  path: '/v1/marketplace/apps',
  tag: 'marketplace',
  summary: 'List the apps of the marketplace',
  description: 'Lists the released apps of all partners, and every app that the account publishes.',
  right: 'read',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The apps, newest first.', pageOrArray(MarketplaceApp), [example]),
});

export const listPartnerApps = defineOperation({
  id: 'listPartnerApps',
  method: 'GET',
  path: '/v1/marketplace/partners/{partner_id}/apps',
  tag: 'marketplace',
  summary: 'List the apps of a partner',
  description:
    'Lists the released apps of a partner; 404 if it has released none. The partner sees all apps that it has published.',
  right: 'read',
  params: PartnerParams,
  query: Type.Object(PageQuery),
  responses: respond(200, 'The apps, newest first.', pageOrArray(MarketplaceApp), [example]),
});

export const createMarketplaceApp = defineOperation({
  id: 'createMarketplaceApp',
  method: 'POST',
  path: '/v1/marketplace/partners/{partner_id}/apps',
  tag: 'marketplace',
  summary: 'Publish an application',
  description:
    'Publishes an application of the account in the state `pre-release`. Publish a version next, then set the state to `released`. The id of the partner is the id of your account. You can publish an application once, and no application of a subscription.',
  right: 'account',
  params: PartnerParams,
  body: {
    schema: MarketplaceAppCreate,
    example: { id: 'quay', ref_app_id: 'quay', title: 'Quay planning' },
  },
  responses: { 201: appResponse },
});

export const getMarketplaceApp = defineOperation({
  id: 'getMarketplaceApp',
  method: 'GET',
  path: '/v1/marketplace/partners/{partner_id}/apps/{marketplace_app_id}',
  tag: 'marketplace',
  summary: 'Get an app of the marketplace',
  description: `Returns one published app. ${VISIBILITY}`,
  right: 'read',
  params: AppParams,
  responses: { 200: appResponse },
});

export const updateMarketplaceApp = defineOperation({
  id: 'updateMarketplaceApp',
  method: 'PUT',
  path: '/v1/marketplace/partners/{partner_id}/apps/{marketplace_app_id}',
  tag: 'marketplace',
  summary: 'Update an app of the marketplace',
  description:
    'Changes the texts, and releases or retracts the app. A retracted app keeps its subscriptions: their finished runs stay readable, and new runs return 400 until you release the app again. A released app does not become a `pre-release` again. An app without a version cannot be released. Runs of subscribers go to the workers of the server; a worker of their own sees the program, so they go to those of `worker_tokens` alone.',
  right: 'account',
  params: AppParams,
  body: { schema: MarketplaceAppUpdate, example: { state: 'released' } },
  responses: { 200: appResponse },
});

export const listMarketplaceVersions = defineOperation({
  id: 'listMarketplaceVersions',
  method: 'GET',
  path: '/v1/marketplace/partners/{partner_id}/apps/{marketplace_app_id}/versions',
  tag: 'marketplace',
  summary: 'List published versions',
  description: `Lists the published versions of an app. ${VISIBILITY}`,
  right: 'read',
  params: AppParams,
  query: Type.Object(PageQuery),
  responses: respond(200, 'The versions, newest first.', pageOrArray(MarketplaceVersion), [versionExample]),
});

export const createMarketplaceVersion = defineOperation({
  id: 'createMarketplaceVersion',
  method: 'POST',
  path: '/v1/marketplace/partners/{partner_id}/apps/{marketplace_app_id}/versions',
  tag: 'marketplace',
  summary: 'Publish a version',
  description: `Publishes a version of the application under an id for subscribers. Every subscriber has it at once in its application, where \`latest\` then runs it. You cannot delete the version of the application any more. An app has at most ${MARKETPLACE_VERSIONS_MAX} versions.`,
  right: 'account',
  params: AppParams,
  body: {
    schema: MarketplaceVersionCreate,
    example: { id: 'v1', ref_app_version_id: 'v1', change_log: ['First version'] },
  },
  responses: { 201: versionResponse },
});

export const getMarketplaceVersion = defineOperation({
  id: 'getMarketplaceVersion',
  method: 'GET',
  path: '/v1/marketplace/partners/{partner_id}/apps/{marketplace_app_id}/versions/{marketplace_version_id}',
  tag: 'marketplace',
  summary: 'Get a published version',
  description: `Returns one published version. ${VISIBILITY}`,
  right: 'read',
  params: VersionParams,
  responses: { 200: versionResponse },
});

export const updateMarketplaceVersion = defineOperation({
  id: 'updateMarketplaceVersion',
  method: 'PUT',
  path: '/v1/marketplace/partners/{partner_id}/apps/{marketplace_app_id}/versions/{marketplace_version_id}',
  tag: 'marketplace',
  summary: 'Update the change log of a published version',
  description: 'Replaces the change log. The program of a published version never changes.',
  right: 'account',
  params: VersionParams,
  body: { schema: MarketplaceVersionUpdate, example: { change_log: ['Faster search'] } },
  responses: { 200: versionResponse },
});
