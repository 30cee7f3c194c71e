/** Commands for the published versions of an app of the marketplace. */

import { age } from '../../terminal/columns.ts';
import { collectValue } from '../parse-values.ts';
import { defineResource } from '../resource/define-resource.ts';
import { addPartner, PARTNER } from './find-partner.ts';

/** Defines `marketplace versions` with its commands. */
export const defineMarketplaceVersions = defineResource({
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
