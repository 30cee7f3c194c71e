/** Share links: read-only pages of a run for people without an account, which show the chosen parts alone. */
import Type, { type Static } from 'typebox';
import { RawBytes } from '../applications/uploads.ts';
import { SHARE_HOURS_DEFAULT, SHARE_HOURS_MAX, SHARES_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { Indicator } from '../runs/run-reports.ts';
import { RunParams } from '../runs/runs.ts';
import {
  FORMAT_TYPES,
  nullable,
  objectSchema,
  stringEnum,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import { type ApplicationId, type AssetId, idSchema, type RunId } from '../schemas/ids.ts';
import { itemsPage, PageQuery } from '../schemas/paging.ts';
import { RUN_STATUSES_V2 } from '../states.ts';
import { SHARED_PARTS } from './shared-parts.ts';

const Parts = Type.Array(stringEnum(SHARED_PARTS, 'A part of the run.'), {
  minItems: 1,
  maxItems: SHARED_PARTS.length,
  description: 'Parts of the run that the link shows. No other part can be read with it.',
});

const ShareCreate = Type.Object(
  {
    parts: Parts,
    expires_in_hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: SHARE_HOURS_MAX,
        description: `Validity of the link in hours. The default is ${SHARE_HOURS_DEFAULT}.`,
      }),
    ),
  },
  { $id: 'ShareCreate', additionalProperties: false, description: 'The share link to create.' },
);

const ShareFields = {
  id: idSchema<string>('Id of the share link.'),
  parts: Parts,
  created_by: Type.String({ description: 'E-mail address of the user who created the link.' }),
  created_at: timestampSchema('Creation time of the link'),
  expires_at: timestampSchema('Time at which the link stops working'),
  views: Type.Integer({ description: 'Number of times that someone has opened the page.' }),
  last_viewed_at: nullable(timestampSchema('When someone last opened the page; null for never')),
};

const Share = Type.Object(
  { ...ShareFields, url: Type.String({ description: 'Address of the page. It needs no sign-in.' }) },
  { $id: 'Share', description: 'A share link of a run.' },
);
export type Share = Static<typeof Share>;

const AccountShare = Type.Object(
  {
    ...ShareFields,
    application_id: idSchema<ApplicationId>('Application of the run.'),
    application_name: Type.String({ description: 'Name of the application.' }),
    run_id: idSchema<RunId>('Id of the run.'),
    run_name: Type.String({ description: 'Name of the run.' }),
  },
  { $id: 'AccountShare', description: 'A share link of a run of the account, without its address.' },
);
export type AccountShare = Static<typeof AccountShare>;

const SharedSummary = Type.Object(
  {
    id: idSchema<RunId>('Id of the run.'),
    name: Type.String({ description: 'Name of the run.' }),
    description: Type.String({ description: 'Description of the run.' }),
    application_id: Type.String({ description: 'Id of the application.' }),
    application_instance_id: Type.String({ description: 'Id of the instance.' }),
    application_version_id: Type.String({ description: 'Id of the version; empty for `latest`.' }),
    status_v2: stringEnum(RUN_STATUSES_V2, 'Status of the run.'),
    created_at: timestampSchema('Creation time of the run'),
    finished_at: Type.Optional(timestampSchema('End of the run')),
    execution_duration: Type.Number({ description: 'Execution time in milliseconds.' }),
    error: Type.String({ description: 'Reason of a failure; empty without one.' }),
  },
  { $id: 'SharedSummary', description: 'The summary of a shared run.' },
);

const SharedOption = Type.Object(
  {
    name: Type.String({ description: 'Name of the option.' }),
    value: Type.String({ description: 'Value, as passed to the app.' }),
  },
  { $id: 'SharedOption', description: 'An option of a shared run.' },
);

const SharedContent = Type.Object(
  {
    format: stringEnum(FORMAT_TYPES, 'Format of the content.'),
    size: Type.Integer({ description: 'Size in bytes.' }),
  },
  { $id: 'SharedContent', description: 'A content of a shared run. Read it with `getSharedContent`.' },
);

const SharedAsset = Type.Object(
  {
    id: Type.String({ description: 'Id of the asset. Read it with `getSharedContent`.' }),
    name: Type.String({ description: 'Name of the asset.' }),
    description: Type.String({ description: 'Description of the asset; empty for none.' }),
    size: Type.Integer({ description: 'Size of the content in bytes.' }),
    visual: Type.Optional(objectSchema('The visualization of the asset, as given by the app.')),
  },
  { $id: 'SharedAsset', description: 'An asset of a shared run.' },
);

const SharedRun = Type.Object(
  {
    parts: Parts,
    expires_at: timestampSchema('Time at which the link stops working'),
    summary: Type.Optional(SharedSummary),
    indicators: Type.Optional(Type.Array(Indicator, { description: 'The indicators of the run.' })),
    options: Type.Optional(
      Type.Array(SharedOption, { description: 'The options, without those that are hidden from any role.' }),
    ),
    log: Type.Optional(SharedContent),
    input: Type.Optional(SharedContent),
    output: Type.Optional(SharedContent),
    assets: Type.Optional(Type.Array(SharedAsset, { description: 'The assets, in the order of the app.' })),
  },
  {
    $id: 'SharedRun',
    description:
      'The chosen parts of a run. A content is absent when it was not chosen, and while the run has none.',
  },
);
export type SharedRun = Static<typeof SharedRun>;

const shareFields = {
  id: 'share-01jd3v7k9mq2z5x8',
  parts: ['summary' as const, 'output' as const],
  created_by: 'planner@example.com',
  created_at: '2026-11-20T08:00:00.000Z',
  expires_at: '2026-11-27T08:00:00.000Z',
  views: 3,
  last_viewed_at: '2026-11-21T09:30:00.000Z',
};
const shareExample = {
  ...shareFields,
  url: 'http://127.0.0.1:8080/console/shared/share-01jd3v7k9mq2z5x8.Vb0k4…',
};

const TokenParams = Type.Object({
  share_token: Type.String({ description: 'The last part of the address of the page.' }),
});

export const createShare = defineOperation({
  id: 'createShare',
  method: 'POST',
  path: '/v1/applications/{application_id}/runs/{run_id}/shares',
  tag: 'share-links',
  summary: 'Create a share link',
  description: `Creates a link to a read-only page of the run, for people without an account. The page shows the chosen parts alone. The link ends when it expires or is revoked, or when its run is deleted. A run has at most ${SHARES_MAX} links.`,
  right: 'run',
  returnsToken: true,
  params: RunParams,
  body: { schema: ShareCreate, example: { parts: ['summary', 'output'], expires_in_hours: 168 } },
  responses: respond(201, 'The link.', Share, shareExample),
});

export const listShares = defineOperation({
  id: 'listShares',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/shares',
  tag: 'share-links',
  summary: 'List the share links of a run',
  description: 'Lists the links of a run that work, newest first.',
  right: 'run',
  params: RunParams,
  responses: respond(200, 'The links.', itemsPage(Share), { items: [shareExample] }),
});

export const listAccountShares = defineOperation({
  id: 'listAccountShares',
  method: 'GET',
  path: '/v1/account/shares',
  tag: 'share-links',
  summary: 'List the share links of the account',
  description:
    'Lists the links of all runs of the account that work, newest first. It returns no addresses: `listShares` of a run does.',
  right: 'account',
  query: Type.Object(PageQuery),
  responses: respond(200, 'The links.', itemsPage(AccountShare), {
    items: [
      {
        ...shareFields,
        application_id: 'routing',
        application_name: 'Vehicle routing',
        run_id: 'run-01jd3v7k9mq2z5x8',
        run_name: 'Monday',
      },
    ],
  }),
});

export const revokeShare = defineOperation({
  id: 'revokeShare',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/runs/{run_id}/shares/{share_id}',
  tag: 'share-links',
  summary: 'Revoke a share link',
  description: 'Ends a link at once. Nothing can be read with it any more.',
  right: 'run',
  params: Type.Object({ ...RunParams.properties, share_id: idSchema<string>('Id of the share link.') }),
  responses: { 204: { description: 'The link is revoked.' } },
});

export const getSharedRun = defineOperation({
  id: 'getSharedRun',
  method: 'GET',
  path: '/v1/shared/{share_token}',
  tag: 'share-links',
  summary: 'Read a shared run',
  description:
    'Returns the chosen parts of the run. The path is the credential. The link counts the view, and the first view in an hour leaves an audit entry. A link that is unknown, expired or revoked returns 404.',
  right: 'public',
  params: TokenParams,
  responses: respond(200, 'The chosen parts.', SharedRun, {
    parts: ['summary', 'output'],
    expires_at: '2026-11-27T08:00:00.000Z',
    summary: {
      id: 'run-01jd3v7k9mq2z5x8',
      name: 'Monday',
      description: '',
      application_id: 'routing',
      application_instance_id: 'production',
      application_version_id: 'v1',
      status_v2: 'succeeded',
      created_at: '2026-11-20T08:00:00.000Z',
      finished_at: '2026-11-20T08:00:02.000Z',
      execution_duration: 1870,
      error: '',
    },
    output: { format: 'json', size: 18_204 },
  }),
});

export const getSharedContent = defineOperation({
  id: 'getSharedContent',
  method: 'GET',
  path: '/v1/shared/{share_token}/content/{part}',
  tag: 'share-links',
  summary: 'Read a content of a shared run',
  description:
    'Returns the bytes of the input, the output, the log or an asset. A part that the link does not show returns 404.',
  right: 'public',
  params: Type.Object({
    ...TokenParams.properties,
    part: idSchema<AssetId>('`input`, `output`, `log`, or the id of an asset.'),
  }),
  responses: {
    200: { description: 'The content.', contentType: 'application/octet-stream', schema: RawBytes },
    206: {
      description: 'The requested part of the content.',
      contentType: 'application/octet-stream',
      schema: RawBytes,
    },
  },
  errors: [416],
});
