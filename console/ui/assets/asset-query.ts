import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { operationQuery } from '../../client/queries.ts';

/** An asset of a run, as the API lists it. */
export interface AssetFacts {
  id: string;
  run_id: string;
  name: string;
  description: string;
  visual?: Readonly<Record<string, unknown>> | undefined;
}

/** The assets of a run, in the order of the app. */
export function assetsQuery(application: string, run: string) {
  return operationQuery('listRunAssets', { params: { application_id: application, run_id: run }, query: {} });
}

/** Returns the label of an asset: the one that its `visual` gives, or its name. */
export function getAssetLabel(asset: AssetFacts): string {
  const label = asset.visual?.label;
  return escapeInvisible(typeof label === 'string' && label !== '' ? label : asset.name);
}

/** Assets that are shown together in a tab. */
export interface AssetTab {
  label: string;
  assets: AssetFacts[];
}

/** Returns the tabs that assets ask for. Assets with one label share a tab. */
export function listAssetTabs(assets: readonly AssetFacts[]): AssetTab[] {
  const tabs = new Map<string, AssetTab>();
  for (const asset of assets) {
    if (asset.visual?.type !== 'custom-tab') continue;
    const label = getAssetLabel(asset);
    const tab = tabs.get(label) ?? { label, assets: [] };
    tab.assets.push(asset);
    tabs.set(label, tab);
  }
  return [...tabs.values()];
}

/** Returns the assets that ask for a place in the summary, by their slot from 1 to 3; others come last. */
export function listSummaryAssets(assets: readonly AssetFacts[]): AssetFacts[] {
  return assets
    .filter(({ visual }) => visual?.type === 'summary-tab')
    .toSorted((one, other) => getSlot(one) - getSlot(other));
}

/** A slot that no asset has; arithmetic with infinity would compare as not a number. */
const LAST_SLOT = 1_000;

function getSlot(asset: AssetFacts): number {
  const slot = Number(asset.visual?.slot);
  return Number.isInteger(slot) && slot >= 1 && slot <= 3 ? slot : LAST_SLOT;
}
