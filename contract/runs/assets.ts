/**
 * An asset is a JSON document that an app returns besides its solution, such as a chart or a map. It is an entry
 * of the list `assets` in the output or, for multi-file apps, in a separate file. It may describe its visualization,
 * which is stored as given.
 */
import Type, { type Static } from 'typebox';
import { defineOperation, respond } from '../operation.ts';
import { objectSchema, timestampSchema } from '../schemas/field-schemas.ts';
import { type AssetId, idSchema } from '../schemas/ids.ts';
import { itemsPage, PageQuery } from '../schemas/paging.ts';
import { RunParams } from './runs.ts';

const fields = {
  id: idSchema<AssetId>('Id of the asset.'),
  run_id: Type.String({ description: 'Id of the run.' }),
  name: Type.String({ description: 'Name of the asset.' }),
  description: Type.String({ description: 'Description of the asset; empty for none.' }),
  content_type: Type.String({ description: 'Always `json`.' }),
  size: Type.Integer({ description: 'Size of the content in bytes.' }),
  created_at: timestampSchema('Time at which the asset was stored'),
  visual: Type.Optional(objectSchema('The visualization of the asset, as given by the app.')),
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
    download_url: Type.String({
      description: 'URL of the content. GET it without a token, within 10 minutes.',
    }),
  },
  { $id: 'AssetDownload', description: 'An asset of a run, with a download URL.' },
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
    'Lists the assets of a run, in the order of the app. An unfinished run has none. Invalid assets are omitted; `assets_error` of the metadata gives the reason.',
  right: 'read',
  params: RunParams,
  query: Type.Object(PageQuery),
  responses: respond(200, 'The assets.', itemsPage(Asset), { items: [example] }),
});

export const getRunAsset = defineOperation({
  id: 'getRunAsset',
  method: 'GET',
  path: '/v1/applications/{application_id}/runs/{run_id}/assets/{asset_id}',
  tag: 'runs',
  summary: 'Get an asset of a run',
  description: 'Returns the asset with a download URL for its content.',
  right: 'read',
  params: Type.Object({ ...RunParams.properties, asset_id: idSchema<AssetId>('Id of the asset.') }),
  responses: respond(200, 'The asset.', AssetDownload, {
    ...example,
    type: 'json',
    download_url: 'http://127.0.0.1:8080/v1/downloads/c-01jd3v7k9p?signature=…',
  }),
});
