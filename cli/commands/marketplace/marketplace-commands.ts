/** Commands for the apps of the marketplace. */
import { type Command, Option } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import { MARKETPLACE_STATES } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { CommandError } from '../../errors/command-error.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatFields } from '../../terminal/table.ts';
import { findPartner, PARTNER_OPTION } from './find-partner.ts';
import { defineMarketplaceVersions } from './version-commands.ts';

type App = CallResponse<Operations['getMarketplaceApp']>['body'];

/** Defines `marketplace` with its commands. */
export function defineMarketplaceCommands(program: Command, session: Session): void {
  const marketplace = program
    .command('marketplace')
    .description('List, publish and release apps of the marketplace of the server.');
  marketplace
    .command('list', { isDefault: true })
    .description('List the released apps of all accounts, and every app that your account publishes.')
    .option('--partner-id <id>', 'Only the apps of this account.')
    .addHelpText('after', '\nExample:\n  switchyard marketplace list')
    .action(({ partnerId }) => printApps(session, partnerId));
  marketplace
    .command('get')
    .description('Print an app of the marketplace.')
    .argument('<app>', 'The id of the app in the marketplace.')
    .option(...PARTNER_OPTION)
    .addHelpText('after', '\nExample:\n  switchyard marketplace get quay --partner-id account-1')
    .action(async (marketplace_app_id, { partnerId }) => {
      const params = { partner_id: await findPartner(session, partnerId), marketplace_app_id };
      printApp(session, (await session.connect().call('getMarketplaceApp', { params })).body);
    });
  defineChanges(marketplace, session);
  defineMarketplaceVersions(marketplace, session);
}

function defineChanges(marketplace: Pick<Command, 'command'>, session: Session): void {
  addTexts(
    marketplace
      .command('create')
      .description(
        'Publish the application as a pre-release. Publish a version next, then release the app with "update".',
      )
      .argument('<app>', 'The id of the app in the marketplace.'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  switchyard marketplace create quay --app quay --title "Quay planning"',
    )
    .action(async (id, { title = id, ...texts }) => {
      const { body } = await session.connect().call('createMarketplaceApp', {
        params: { partner_id: await findPartner(session) },
        body: { id, ref_app_id: session.findApplication(), title, ...dropUndefined(texts) },
      });
      printApp(session, body);
    });
  addTexts(
    marketplace
      .command('update')
      .description(
        'Change the texts of an app of your account, release it, or retract it. A retracted app has no new runs of subscribers.',
      )
      .argument('<app>', 'The id of the app in the marketplace.'),
  )
    .addOption(new Option('--state <state>', 'The state of the app.').choices(MARKETPLACE_STATES))
    .option(
      '--worker-tokens [id...]',
      'The worker tokens of subscribers whose workers receive the program, in place of those before; none without an id.',
    )
    .addHelpText('after', '\nExample:\n  switchyard marketplace update quay --state released')
    .action(async (marketplace_app_id, changes) => {
      const { state, title, description, categories, features, workerTokens } = changes;
      const worker_tokens = workerTokens === true ? [] : workerTokens;
      const body = dropUndefined({ state, title, description, categories, features, worker_tokens });
      if (Object.keys(body).length === 0)
        throw new CommandError(
          'Nothing to change was given. Give --state, --title, --description, --categories, --features or --worker-tokens.',
        );
      const params = { partner_id: await findPartner(session), marketplace_app_id };
      printApp(session, (await session.connect().call('updateMarketplaceApp', { params, body })).body);
    });
}

function addTexts(command: Command<[string]>) {
  return command
    .option('--title <title>', 'The title; otherwise the id.')
    .option('--description <text>', 'The description.')
    .option('--categories <category...>', 'Categories for readers of the list.')
    .option('--features <feature...>', 'Features for readers of the list.');
}

async function printApps(session: Session, partner_id: string | undefined): Promise<void> {
  const client = session.connect();
  const { body } =
    partner_id === undefined
      ? await client.call('listMarketplaceApps')
      : await client.call('listPartnerApps', { params: { partner_id } });
  session.output.printTable(
    listItems(body),
    [
      { title: 'SUBSCRIPTION', value: ({ subscription_id }) => subscription_id },
      { title: 'TITLE', value: ({ title }) => title },
      { title: 'PARTNER', value: ({ partner_name }) => partner_name },
      { title: 'STATE', value: ({ state }) => state },
      { title: 'VERSION', value: ({ latest_versions: [latest = ''] }) => latest },
      { title: 'DESCRIPTION', value: ({ description }) => description },
    ],
    {
      json: body,
      empty: 'The marketplace has no apps.',
      id: ({ subscription_id }) => subscription_id,
    },
  );
}

function printApp({ output }: Session, app: App): void {
  output.print({
    json: app,
    text: () =>
      formatFields({
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
    quiet: () => app.id,
  });
}
