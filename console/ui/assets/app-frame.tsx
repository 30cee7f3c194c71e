import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import chartjsUrl from 'chart.js/dist/chart.umd.min.js?url';
import plotlyUrl from 'plotly.js-dist-min/plotly.min.js?url';
import { useEffect, useRef, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { useThemeVersion } from '../charts/theme-version.ts';
import { resolveColour } from '../maps/group-colours.ts';
import { Notice } from '../notice.tsx';
import styles from './app-frame.module.css';

export type FrameKind = 'chartjs' | 'plotly' | 'html';

const LIBRARIES: Record<FrameKind, string | undefined> = {
  chartjs: chartjsUrl,
  plotly: plotlyUrl,
  html: undefined,
};

/**
 * A chart or page of an app, drawn in a sandboxed frame with an opaque origin. A frame can load nothing, so this page sends
 * the text of the library with the content. A page runs scripts of the app, so `AssetView` asks before it draws one.
 */
export function AppFrame({ kind, content, label }: { kind: FrameKind; content: unknown; label: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [problem, setProblem] = useState<string>();
  const theme = useThemeVersion();
  // A page of an app has colours of the app, so another theme does not load it again.
  const version = kind === 'html' ? 0 : theme;
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const abort = new AbortController();
    const send = async () => {
      const url = LIBRARIES[kind];
      const library = url === undefined ? '' : await (await fetch(url, { signal: abort.signal })).text();
      const colour = resolveColour(document.body, 'var(--ink)');
      // The frame has an opaque origin, which only the wildcard matches.
      element.contentWindow?.postMessage({ kind, content, label, library, colour }, '*');
    };
    const receive = ({ data, source }: MessageEvent<unknown>) => {
      if (source !== element.contentWindow || !isRecord(data)) return;
      if (data.ready === true) send().catch((error: unknown) => setProblem(describeError(error)));
      if (typeof data.error === 'string')
        setProblem(`The asset cannot be drawn: ${data.error.slice(0, 500)}`);
    };
    addEventListener('message', receive, { signal: abort.signal });
    // The address is set after the listener, so that the first message of the frame is not lost.
    element.src = `/console/${kind === 'html' ? 'page-frame' : 'frame'}.html?version=${version}`;
    return () => abort.abort();
  }, [kind, content, label, version]);
  return (
    <>
      {problem !== undefined && <Notice kind="warning">{problem}</Notice>}
      <iframe
        ref={frame}
        title={label}
        sandbox="allow-scripts"
        className={kind === 'html' ? `${styles.frame} ${styles.page}` : styles.frame}
      />
    </>
  );
}
