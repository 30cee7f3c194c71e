/** Commands for the published versions of an app of the marketplace. */
import type { Command } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { formatFields } from '../../terminal/table.ts';
import { collectValue } from '../parse-values.ts';
import { findPartner, PARTNER_OPTION } from './find-partner.ts';

type Version = CallResponse<Operations['getMarketplaceVersion']>['body'];

const APP_TEXT = 'The id of the app in the marketplace.';

/** Defines `marketplace versions` with its commands. */
export function defineMarketplaceVersions(marketplace: Pick<Command, 'command'>, session: Session): void {
  const versions = marketplace
    .command('versions')
    .description('List and publish versions of an app of the marketplace.');
  versions
    .command('list')
    .description('List the published versions of an app, the newest first.')
    .argument('<app>', APP_TEXT)
    .option(...PARTNER_OPTION)
    .addHelpText('after', '\nExample:\n  switchyard marketplace versions list quay --partner-id account-1')
    .action((app, { partnerId }) => printVersions(session, app, partnerId));
  versions
    .command('get')
    .description('Print a published version with its changes.')
    .argument('<app>', APP_TEXT)
    .argument('<version>', 'The id of the version in the marketplace.')
    .option(...PARTNER_OPTION)
    .addHelpText('after', '\nExample:\n  switchyard marketplace versions get quay v1 --partner-id account-1')
    .action(async (marketplace_app_id, marketplace_version_id, { partnerId }) => {
      const partner_id = await findPartner(session, partnerId);
      const params = { partner_id, marketplace_app_id, marketplace_version_id };
      printVersion(session, (await session.connect().call('getMarketplaceVersion', { params })).body);
    });
  versions
    .command('create')
    .description('Publish a version of the application. Every subscriber has it at once.')
    .argument('<app>', APP_TEXT)
    .argument('<version>', 'The id of the version in the marketplace.')
    .option('--version-id <id>', 'The version of the application; otherwise the one with the same id.')
    .option('--change <text>', 'A change for the change log; repeat it for several.', collectValue)
    .addHelpText(
      'after',
      '\nExample:\n  switchyard marketplace versions create quay v2 --change "Faster search"',
    )
    .action(async (marketplace_app_id, id, { versionId = id, change: change_log }) => {
      const { body } = await session.connect().call('createMarketplaceVersion', {
        params: { partner_id: await findPartner(session), marketplace_app_id },
        body: { id, ref_app_version_id: versionId, ...dropUndefined({ change_log }) },
      });
      printVersion(session, body);
    });
  versions
    .command('update')
    .description('Replace the change log of a published version. Its program never changes.')
    .argument('<app>', APP_TEXT)
    .argument('<version>', 'The id of the version in the marketplace.')
    .requiredOption('--change <text>', 'A change; repeat it for several.', collectValue)
    .addHelpText(
      'after',
      '\nExample:\n  switchyard marketplace versions update quay v2 --change "Faster search"',
    )
    .action(async (marketplace_app_id, marketplace_version_id, { change: change_log }) => {
      const { body } = await session.connect().call('updateMarketplaceVersion', {
        params: { partner_id: await findPartner(session), marketplace_app_id, marketplace_version_id },
        body: { change_log },
      });
      printVersion(session, body);
    });
}

async function printVersions(
  session: Session,
  marketplace_app_id: string,
  partnerId: string | undefined,
): Promise<void> {
  const params = { partner_id: await findPartner(session, partnerId), marketplace_app_id };
  const { body } = await session.connect().call('listMarketplaceVersions', { params });
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'VERSION', value: ({ id }) => id },
      { title: 'OF THE APPLICATION', value: ({ ref_app_version_id }) => ref_app_version_id },
      { title: 'CHANGES', value: ({ change_log }) => change_log.join('; ') },
      { title: 'PUBLISHED', value: ({ created_at }) => formatAge(Date.parse(created_at), now) },
    ],
    {
      json: body,
      empty: `The app ${marketplace_app_id} has no published versions.`,
      id: ({ id }) => id,
    },
  );
}

function printVersion({ output }: Session, version: Version): void {
  output.print({
    json: version,
    text: () =>
      formatFields({
        version: version.id,
        app: version.app_id,
        'version of the application': version.ref_app_version_id,
        changes: version.change_log.join('; '),
        published: version.created_at,
      }),
    quiet: () => version.id,
  });
}
