import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useQuery } from '@tanstack/react-query';
import { describeError } from '../../client/client.ts';
import { Notice } from '../notice.tsx';
import styles from './asset-list.module.css';
import { type AssetFacts, assetsQuery, getAssetLabel } from './asset-query.ts';
import { AssetView } from './asset-view.tsx';

/** All assets of a run, in the order of the app. */
export function AssetList({ application, run }: { application: string; run: string }) {
  const { data, error } = useQuery(assetsQuery(application, run));
  if (error) return <Notice kind="error">{describeError(error)}</Notice>;
  if (!data) return <p role="status">Loading assets…</p>;
  if (data.items.length === 0) return <p>This run left no assets.</p>;
  return <Assets application={application} assets={data.items} />;
}

/** Assets below each other, each under its label. */
export function Assets({ application, assets }: { application: string; assets: readonly AssetFacts[] }) {
  return (
    <div className={styles.assets}>
      {assets.map((asset) => (
        <section key={asset.id} className={styles.asset} aria-labelledby={`asset-${asset.id}`}>
          <h2 id={`asset-${asset.id}`}>
            <bdi>{getAssetLabel(asset)}</bdi>
          </h2>
          {asset.description !== '' && <p>{escapeInvisible(asset.description)}</p>}
          <AssetView application={application} asset={asset} />
        </section>
      ))}
    </div>
  );
}
