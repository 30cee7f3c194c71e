import { useQuery } from '@tanstack/react-query';
import { describeError } from '../../client/client.ts';
import { operationQuery } from '../../client/queries.ts';
import { escapeInvisible } from '../content/json-text.ts';
import { Notice } from '../notice.tsx';
import styles from './asset-list.module.css';
import { type AssetFacts, AssetView } from './asset-view.tsx';

/** The place that an asset asks for: a separate tab, or a slot from 1 to 3 of the summary. */
export type AssetPlace = 'custom-tab' | 'summary-tab';

/** Returns the label of an asset: the one that its `visual` gives, or its name. */
function getLabel(asset: AssetFacts): string {
  const label = asset.visual?.label;
  return escapeInvisible(typeof label === 'string' && label !== '' ? label : asset.name);
}

function getSlot(asset: AssetFacts): number {
  const slot = Number(asset.visual?.slot);
  return Number.isFinite(slot) ? slot : Number.POSITIVE_INFINITY;
}

/** The assets of a run in the order of the app. With `place`, only those that ask for it, by their slot. */
export function AssetList({
  application,
  run,
  place,
}: {
  application: string;
  run: string;
  place?: AssetPlace;
}) {
  const { data, error } = useQuery(
    operationQuery('listRunAssets', { params: { application_id: application, run_id: run }, query: {} }),
  );
  if (error) return <Notice kind="error">{describeError(error)}</Notice>;
  if (!data) return <p role="status">Loading assets…</p>;
  const assets = place
    ? data.items
        .filter(({ visual }) => visual?.type === place)
        .sort((one, other) => getSlot(one) - getSlot(other))
    : data.items;
  if (assets.length === 0) return place ? null : <p>This run left no assets.</p>;
  return (
    <div className={styles.assets}>
      {assets.map((asset) => (
        <section key={asset.id} className={styles.asset} aria-labelledby={`asset-${asset.id}`}>
          <h2 id={`asset-${asset.id}`}>
            <bdi>{getLabel(asset)}</bdi>
          </h2>
          {asset.description !== '' && <p>{escapeInvisible(asset.description)}</p>}
          <AssetView application={application} asset={asset} />
        </section>
      ))}
    </div>
  );
}
