/** Commands for the apps of the marketplace, their published versions and the subscriptions to them. */
import { listItems } from '../session/list-items.ts';
import type { Session } from '../session/session.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { age } from '../terminal/columns.ts';
import { addApplication } from './application-argument.ts';
import { collectValue } from './parse-values.ts';
import type { Field, Values } from './resource/define-command.ts';
import { defineResource } from './resource/define-resource.ts';

/** The option of commands that read apps of other accounts too. */
const PARTNER: Field = ['<id>', 'The account that publishes the app; otherwise yours.'];

/** Completes a request by the id of the given account, or of that of the caller. */
async function addPartner(values: Values, session: Session): Promise<Values> {
  return {
    ...values,
    partner_id: values.partner_id ?? (await session.connect().call('getAccount')).body.id,
  };
}

const TEXTS: Record<'title' | 'description' | 'categories' | 'features', Field> = {
  title: ['<title>', 'The title; otherwise the id.', { isOptional: true }],
  description: ['<text>', 'The description.'],
  categories: ['<category...>', 'Categories for readers of the list.'],
  features: ['<feature...>', 'Features for readers of the list.'],
};

export const defineMarketplaceCommands = defineResource({
  name: 'marketplace',
  noun: 'app',
  text: 'List, publish and release apps of the marketplace of the server.',
  argument: 'The id of the app in the marketplace.',
  get: {
    operation: 'getMarketplaceApp',
    text: 'Print an app of the marketplace.',
    options: { partner_id: PARTNER },
    prepare: addPartner,
    example: 'quay --partner-id account-1',
  },
  create: {
    operation: 'createMarketplaceApp',
    text: 'Publish the application as a pre-release. Publish a version next, then release the app with "update".',
    options: TEXTS,
    prepare: ({ id, title = id, ...values }, session) =>
      addPartner({ id, title, ref_app_id: session.findApplication(), ...values }, session),
    example: 'quay quay --title "Quay planning"',
  },
  update: {
    operation: 'updateMarketplaceApp',
    text: 'Change the texts of an app of your account, release it, or retract it. A retracted app has no new runs of subscribers.',
    options: {
      ...TEXTS,
      state: ['<state>', 'The state of the app.'],
      worker_tokens: [
        '[id...]',
        'The worker tokens of subscribers whose workers receive the program, in place of those before; none without an id.',
      ],
    },
    prepare: ({ worker_tokens, ...values }, session) =>
      addPartner({ ...values, worker_tokens: worker_tokens === true ? [] : worker_tokens }, session),
    example: 'quay --state released',
  },
  show: (app) => ({
    app: app.id,
    subscription: app.subscription_id,
    title: app.title,
    description: app.description,
    partner: `${app.partner_name} (${app.partner_id})`,
    state: app.state,
    versions: app.latest_versions.join(', '),
    categories: app.categories.join(', '),
    features: app.features.join(', '),
    application: app.ref_app_id,
    'worker tokens': app.worker_tokens?.join(', ') ?? null,
  }),
  more: (marketplace, session) => {
    marketplace.commands.filter((one) => one.name() === 'create').forEach(addApplication);
    marketplace
      .command('list', { isDefault: true })
      .description('List the released apps of all accounts, and every app that your account publishes.')
      .option('--partner-id <id>', 'Only the apps of this account.')
      .addHelpText('after', '\nExample:\n  switchyard marketplace list')
      .action(({ partnerId }) => printApps(session, partnerId));
    defineMarketplaceVersions(marketplace, session);
  },
});

/** Defines `marketplace versions` with its commands. */
const defineMarketplaceVersions = defineResource({
  name: 'versions',
  noun: 'version',
  text: 'List and publish versions of an app of the marketplace.',
  parents: { marketplace_app_id: ['<app>', 'The id of the app in the marketplace.'] },
  argument: 'The id of the version in the marketplace.',
  list: {
    operation: 'listMarketplaceVersions',
    text: 'List the published versions of an app, the newest first.',
    options: { partner_id: PARTNER },
    prepare: addPartner,
    columns: {
      VERSION: 'id',
      'OF THE APPLICATION': 'ref_app_version_id',
      CHANGES: ({ change_log }) => change_log.join('; '),
      PUBLISHED: age('created_at'),
    },
    empty: ({ marketplace_app_id }) => `The app ${marketplace_app_id} has no published versions.`,
    example: 'quay --partner-id account-1',
  },
  get: {
    operation: 'getMarketplaceVersion',
    text: 'Print a published version with its changes.',
    options: { partner_id: PARTNER },
    prepare: addPartner,
    example: 'quay v1 --partner-id account-1',
  },
  create: {
    operation: 'createMarketplaceVersion',
    text: 'Publish a version of the application. Every subscriber has it at once.',
    options: {
      ref_app_version_id: [
        '<id>',
        'The version of the application; otherwise the one with the same id.',
        { flag: '--version-id', isOptional: true },
      ],
      change_log: [
        '<text>',
        'A change for the change log; repeat it for several.',
        { flag: '--change', parse: collectValue },
      ],
    },
    prepare: ({ id, ref_app_version_id = id, ...values }, session) =>
      addPartner({ id, ref_app_version_id, ...values }, session),
    example: 'quay v2 --change "Faster search"',
  },
  update: {
    operation: 'updateMarketplaceVersion',
    text: 'Replace the change log of a published version. Its program never changes.',
    options: {
      change_log: ['<text>', 'A change; repeat it for several.', { flag: '--change', parse: collectValue }],
    },
    prepare: addPartner,
    example: 'quay v2 --change "Faster search"',
  },
  show: (version) => ({
    version: version.id,
    app: version.app_id,
    'version of the application': version.ref_app_version_id,
    changes: version.change_log.join('; '),
    published: version.created_at,
  }),
});

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

async function printApps(session: Session, partner_id: string | undefined): Promise<void> {
  const client = session.connect();
  const { body } =
    partner_id === undefined
      ? await client.call('listMarketplaceApps')
      : await client.call('listPartnerApps', { params: { partner_id } });
  session.output.printTable(
    listItems(body),
    {
      SUBSCRIPTION: 'subscription_id',
      TITLE: 'title',
      PARTNER: 'partner_name',
      STATE: 'state',
      VERSION: ({ latest_versions: [latest = ''] }) => latest,
      DESCRIPTION: 'description',
    },
    {
      json: body,
      empty: 'The marketplace has no apps.',
      id: ({ subscription_id }) => subscription_id,
    },
  );
}
