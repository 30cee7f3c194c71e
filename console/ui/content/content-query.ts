import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type LoadedContent, loadContent, wrapValue } from './load-content.ts';

/** How to get the download URL of a content, with the key that names it among all queries. */
export interface RemoteContent {
  key: readonly unknown[];
  getUrl: (signal: AbortSignal) => Promise<string | undefined>;
}

/** A content: a value that the page holds, or one to download. */
export type ContentSource = { value: unknown } | RemoteContent;

/** The query of a content; null for a run that has none. */
export function contentQuery({ key, getUrl }: RemoteContent) {
  return queryOptions({
    queryKey: ['content', ...key],
    // The content of a run never changes once it is there, and is large.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
    queryFn: async ({ signal }): Promise<LoadedContent | null> => {
      const url = await getUrl(signal);
      return url === undefined ? null : loadContent(url, signal);
    },
  });
}

const NO_SOURCE: RemoteContent = { key: [], getUrl: async () => undefined };

/** Loads a content. `content` is null for a run that has none. */
export function useContent(source: ContentSource) {
  const isValue = 'value' in source;
  const value = isValue ? source.value : undefined;
  const wrapped = useMemo(() => (isValue ? wrapValue(value) : undefined), [isValue, value]);
  const query = useQuery({ ...contentQuery(isValue ? NO_SOURCE : source), enabled: !isValue });
  return { content: wrapped ?? query.data, error: query.error };
}
