/** Prepares the contents and rows of a run's assets before the transaction that stores them. */
import type { AssetId } from '@switchyard/contract/schemas/ids.ts';
import type { ParsedAsset } from '@switchyard/worker/results/parse-assets.ts';
import type { Contents, PreparedContent } from '../../platform/blobs/contents.ts';
import { makeId, type Random } from '../../platform/random.ts';
import type { PreparedAsset } from '../store/assets.ts';

/**
 * Prepares the assets. Adds each content to `prepared` at once, so that the caller can discard all of them when a later
 * one fails.
 */
export async function prepareAssets(
  parts: { contents: Contents; random: Random },
  assets: readonly ParsedAsset[],
  now: number,
  prepared: PreparedContent[],
): Promise<PreparedAsset[]> {
  const preparedAssets: PreparedAsset[] = [];
  for (const asset of assets) {
    const preparedAsset = await prepareAsset(parts, asset, now);
    prepared.push(preparedAsset.content);
    preparedAssets.push(preparedAsset);
  }
  return preparedAssets;
}

async function prepareAsset(
  { contents, random }: { contents: Contents; random: Random },
  asset: ParsedAsset,
  now: number,
): Promise<PreparedAsset> {
  const content = await contents.prepare(Buffer.from(asset.content));
  const row = {
    id: makeId<AssetId>(random, 'asset'),
    name: asset.name,
    description: asset.description,
    visual: asset.visual,
    bytes: content.bytes,
    content_id: content.id,
    created_at: now,
  };
  return { row, content };
}
