/**
 * An asset is a JSON document that an app leaves beside its solution, such as a chart or a map, in the list `assets` of its
 * output or, for multi-file apps, in a file of its own. It may describe its visualization, which is stored as given.
 */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../operation.ts';
import { anyObject, timestamp } from '../schemas/field-schemas.ts';
import { type AssetId, idSchema } from '../schemas/ids.ts';
import { itemsPage, PageQuery } from '../schemas/paging.ts';
import { RunParams } from './runs.ts';

const fields = {
  id: idSchema<AssetId>('Id of the asset.'),
  run_id: Type.String({ description: 'The run that left it.' }),
  name: Type.String({ description: 'Name the app gave it.' }),
  description: Type.String({ description: 'Description the app gave it, empty for none.' }),
  content_type: Type.String({ description: 'Always `json`.' }),
  size: Type.Integer({ description: 'Bytes of the content.' }),
  created_at: timestamp('When it was kept'),
  visual: Type.Optional(anyObject('The visualization of the asset, as the app gave it.')),
};

export const Asset = Type.Object(fields, {
  $id: 'Asset',
  description: 'An asset of a run, without its content.',
});
export type Asset = Static<typeof Asset>;

const AssetDownload = Type.Object(
  {
    ...fields,
    type: Type.String({ description: 'The same as content_type.' }),
    download_url: Type.String({ description: 'GET the content here without a token, within 10 minutes.' }),
  },
  { $id: 'AssetDownload', description: 'An asset of a run, with where to get its content.' },
);

const example = {
  id: 'asset-01jd3v7k9n',
  run_id: 'run-01jd3v7k9mq2z5x8',
  name: 'Routes',
  description: '',
  content_type: 'json',
  size: 18_204,
  created_at: '2026-11-20T08:00:02.211Z',
  visual: { schema: 'geojson', label: 'Map', type: 'custom-tab' },
};

export const listRunAssets = defineOperation({
  id: 'listRunAssets',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/assets',
  tag: 'runs',
  summary: 'List the assets of a run',
  description:
    'Lists what the app left beside its solution, in the order it gave. A run that has not ended has none yet. Assets that do not conform are left out; `assets_error` of the metadata says why.',
  right: 'read',
  params: RunParams,
  query: Type.Object(PageQuery),
  responses: {
    200: {
      description: 'The assets.',
      schema: itemsPage(Asset),
      example: { items: [example] },
    },
  },
  errors: [404],
});

export const getRunAsset = defineOperation({
  id: 'getRunAsset',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/assets/{asset_id}',
  tag: 'runs',
  summary: 'Get an asset of a run',
  description: 'Answers the asset and a URL to download its content by.',
  right: 'read',
  params: Type.Object({ ...RunParams.properties, asset_id: idSchema<AssetId>('Id of the asset.') }),
  responses: {
    200: {
      description: 'The asset.',
      schema: AssetDownload,
      example: {
        ...example,
        type: 'json',
        download_url: 'http://127.0.0.1:8080/v1/downloads/c-01jd3v7k9p?signature=…',
      },
    },
  },
  errors: [404],
});
