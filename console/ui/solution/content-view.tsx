import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { useMemo, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../button.tsx';
import type { ContentMode } from '../content/content-mode.ts';
import { type ContentSource, useContent } from '../content/content-query.ts';
import styles from '../content/content-view.module.css';
import { DataTables } from '../content/data-table.tsx';
import { findTables } from '../content/find-tables.ts';
import { JsonTree } from '../content/json-tree.tsx';
import type { LoadedContent } from '../content/load-content.ts';
import { RawText } from '../content/raw-text.tsx';
import { saveFile } from '../content/save-file.ts';
import { Notice } from '../notice.tsx';
import { Segments } from '../options/segments.tsx';
import { findViews, type SolutionViews } from './find-views.ts';
import { SolutionView } from './solution-view.tsx';

export interface ContentViewProps {
  source: ContentSource;
  /** Name for screen readers, such as `Output`. */
  label: string;
  /** Name of downloaded files, without an ending. */
  fileName: string;
  /** The chosen way to show it, when the page keeps it in its URL. */
  mode?: ContentMode | undefined;
  onSelectMode?: (mode: ContentMode) => void;
}

/** The input or output of a run, or an asset, as tree, table or text, with a download. */
export function ContentView(props: ContentViewProps) {
  const { content, error } = useContent(props.source);
  if (error) return <Notice kind="error">{describeError(error)}</Notice>;
  if (content === null) return <p className="soft">There is no content yet.</p>;
  if (content === undefined)
    return (
      <div className={styles.loading} role="status">
        Loading {props.label.toLowerCase()}…
      </div>
    );
  return <LoadedView {...props} content={content} />;
}

const MODE_NAMES: Record<ContentMode, string> = { view: 'View', tree: 'Tree', table: 'Table', raw: 'Raw' };

function listModes(content: LoadedContent, { views, problems }: SolutionViews): ContentMode[] {
  if (content.kind === 'archive') return [];
  if (content.kind !== 'json') return ['raw'];
  return [
    ...(views.length + problems.length > 0 ? ['view' as const] : []),
    'tree',
    ...(findTables(content.value).length > 0 ? ['table' as const] : []),
    'raw',
  ];
}

const NO_VIEWS: SolutionViews = { views: [], problems: [] };

function LoadedView({
  content,
  mode,
  onSelectMode,
  ...props
}: ContentViewProps & { content: LoadedContent }) {
  const [chosen, setChosen] = useState<ContentMode>();
  const found = useMemo(() => (content.kind === 'json' ? findViews(content.value) : NO_VIEWS), [content]);
  const modes = useMemo(() => listModes(content, found), [content, found]);
  const wanted = mode ?? chosen;
  const visible = modes.find((one) => one === wanted) ?? modes[0];
  return (
    <div className={styles.content}>
      <div className={styles.bar}>
        <Segments
          label={`View of ${props.label.toLowerCase()}`}
          options={modes.map((one) => [one, MODE_NAMES[one]])}
          chosen={visible}
          onChoose={onSelectMode ?? setChosen}
        />
        <span className="soft">{content.bytes === undefined ? '' : formatBytes(content.bytes)}</span>
        <Download content={content} {...props} />
      </div>
      {visible === 'view' ? (
        <SolutionView found={found} fileName={props.fileName} />
      ) : (
        <Body content={content} mode={visible} {...props} />
      )}
    </div>
  );
}

function Body({
  content,
  mode,
  label,
  fileName,
}: ContentViewProps & { content: LoadedContent; mode: ContentMode | undefined }) {
  if (content.kind === 'archive')
    return <p>An archive is not shown here. Download it and unpack it with `tar -xzf`.</p>;
  if (content.kind === 'json' && mode === 'tree') return <JsonTree value={content.value} label={label} />;
  if (content.kind === 'json' && mode === 'table')
    return <DataTables value={content.value} fileName={fileName} />;
  return (
    <>
      {content.kind === 'excerpt' && (
        <Notice kind="info">
          This content is larger than 20 MB. Its first megabyte is shown; download it to see all of it.
        </Notice>
      )}
      <RawText text={content.text} isJson={content.kind === 'json'} label={label} />
    </>
  );
}

const ENDINGS = { json: 'json', text: 'txt', excerpt: 'json', archive: 'tar.gz' } as const;

/** Downloads the bytes as they are stored. The URL is requested at the press, because it is valid for ten minutes. */
function Download({ source, content, fileName }: ContentViewProps & { content: LoadedContent }) {
  const [error, setError] = useState<unknown>();
  const name = `${fileName}.${ENDINGS[content.kind]}`;
  const download = async () => {
    if ('value' in source) {
      if (content.kind === 'json') saveFile(name, content.text, 'application/json');
      return;
    }
    const url = await source.getUrl(new AbortController().signal);
    if (url === undefined) return;
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
  };
  return (
    <>
      <Button onPress={() => void download().catch(setError)}>Download</Button>
      {error !== undefined && <Notice kind="error">{describeError(error)}</Notice>}
    </>
  );
}
