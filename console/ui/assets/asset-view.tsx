import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { applicationQuery } from '../../client/applications.ts';
import { client, describeError } from '../../client/client.ts';
import { Button } from '../button.tsx';
import { type ContentSource, useContent } from '../content/content-query.ts';
import { readGeoJson } from '../maps/read-geojson.ts';
import { ShapeMap } from '../maps/shape-map.tsx';
import { Notice } from '../notice.tsx';
import { ContentView } from '../solution/content-view.tsx';
import { toLocalUrl } from '../solution/run-content.tsx';
import { AppFrame, type FrameKind } from './app-frame.tsx';
import type { AssetFacts } from './asset-query.ts';

const PAGE_SCHEMA = 'html';
const FRAME_KINDS: readonly FrameKind[] = ['chartjs', 'plotly', PAGE_SCHEMA];

function getAssetSource(application: string, asset: AssetFacts): ContentSource {
  const params = { application_id: application, run_id: asset.run_id, asset_id: asset.id };
  return {
    key: [application, asset.run_id, 'asset', asset.id],
    getUrl: async (signal) =>
      toLocalUrl((await client.call('getRunAsset', { params, signal })).body.download_url),
  };
}

/** One asset: as map, chart or page if it asks for one, and else as a tree. */
export function AssetView({ application, asset }: { application: string; asset: AssetFacts }) {
  const isPage = asset.visual?.schema === PAGE_SCHEMA;
  const { data } = useQuery({ ...applicationQuery(application), enabled: isPage });
  return (
    <AssetSourceView
      asset={asset}
      source={getAssetSource(application, asset)}
      isTrusted={data?.html_assets_trusted}
    />
  );
}

interface AssetSourceViewProps {
  asset: Omit<AssetFacts, 'run_id'>;
  source: ContentSource;
  /** True when an administrator lets pages of the application run without a click. */
  isTrusted?: boolean | undefined;
}

/** An asset whose content is read from the given source. */
export function AssetSourceView({ asset, source, isTrusted = false }: AssetSourceViewProps) {
  const { content, error } = useContent(source);
  if (error) return <Notice kind="error">{describeError(error)}</Notice>;
  if (content?.kind === 'json') {
    const schema = asset.visual?.schema;
    if (schema === 'geojson') return <ShapeMap data={readGeoJson(content.value)} label={asset.name} />;
    const kind = FRAME_KINDS.find((one) => one === schema);
    const frames = kind && <Frames kind={kind} content={content.value} label={asset.name} />;
    if (frames) return kind === PAGE_SCHEMA && !isTrusted ? <RunOnClick>{frames}</RunOnClick> : frames;
  }
  return <ContentView source={source} label={asset.name} fileName={asset.id} />;
}

/** Asks before scripts of the app run. No policy of a browser keeps them from WebRTC, which sends to any address. */
function RunOnClick({ children }: { children: ReactNode }) {
  const [isRunning, setRunning] = useState(false);
  if (isRunning) return children;
  return (
    <Notice kind="warning">
      <p>This page can send what it shows to its author.</p>
      <Button onPress={() => setRunning(true)}>Run page</Button>
    </Notice>
  );
}

const CHARTS_MAX = 12;

/** A list in `content` has one chart in each item. */
function Frames({ kind, content, label }: { kind: FrameKind; content: unknown; label: string }) {
  const items: readonly unknown[] = Array.isArray(content) ? content.slice(0, CHARTS_MAX) : [content];
  return items.map((item, index) => (
    <AppFrame key={index} kind={kind} content={item} label={`${label} ${index + 1}`} />
  ));
}
