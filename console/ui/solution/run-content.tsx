import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { client } from '../../client/client.ts';
import type { ContentMode } from '../content/content-mode.ts';
import type { RemoteContent } from '../content/content-query.ts';
import { ContentView } from './content-view.tsx';

/** A part of a run with content. */
export type RunPart = 'input' | 'output';

/** Returns the source of the input or output of a run. */
export function getRunContentSource(application: string, run: string, part: RunPart): RemoteContent {
  const request = {
    params: { application_id: application, run_id: run },
    query: { format: 'url' as const },
  };
  return {
    key: [application, run, part],
    async getUrl(signal) {
      const operation = part === 'input' ? 'getRunInput' : 'getRunOutput';
      const { body } = await client.call(operation, { ...request, signal });
      // A run of files that ended without any has the URL of an empty archive, and no output.
      const hasContent = part === 'input' || (isRecord(body) && 'output' in body);
      return hasContent ? readUrl(body) : undefined;
    },
  };
}

/** Returns the URL as a path of this server, whatever name the server knows itself by. */
export function toLocalUrl(url: string): string {
  const { pathname, search } = new URL(url, location.href);
  return pathname + search;
}

function readUrl(body: unknown): string | undefined {
  if (!isRecord(body)) return undefined;
  return typeof body.url === 'string' && body.url !== '' ? toLocalUrl(body.url) : undefined;
}

/** The input or output of a run as tree, table or text. */
export function RunContent({
  application,
  run,
  part,
  ...view
}: {
  application: string;
  run: string;
  part: RunPart;
  mode?: ContentMode | undefined;
  onSelectMode?: (mode: ContentMode) => void;
}) {
  return (
    <ContentView
      source={getRunContentSource(application, run, part)}
      label={part === 'input' ? 'Input' : 'Output'}
      fileName={`${run}-${part}`}
      {...view}
    />
  );
}
