/** Commands for the apps of the marketplace. */
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import type { Field } from '../resource/define-command.ts';
import { defineResource } from '../resource/define-resource.ts';
import { addPartner, PARTNER } from './find-partner.ts';
import { defineMarketplaceVersions } from './version-commands.ts';

const TEXTS: Record<'title' | 'description' | 'categories' | 'features', Field> = {
  title: ['<title>', 'The title; otherwise the id.', { isOptional: true }],
  description: ['<text>', 'The description.'],
  categories: ['<category...>', 'Categories for readers of the list.'],
  features: ['<feature...>', 'Features for readers of the list.'],
};

/** Defines `marketplace` with its commands. */
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
    example: 'quay --app quay --title "Quay planning"',
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
    marketplace
      .command('list', { isDefault: true })
      .description('List the released apps of all accounts, and every app that your account publishes.')
      .option('--partner-id <id>', 'Only the apps of this account.')
      .addHelpText('after', '\nExample:\n  switchyard marketplace list')
      .action(({ partnerId }) => printApps(session, partnerId));
    defineMarketplaceVersions(marketplace, session);
  },
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
