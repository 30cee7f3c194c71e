import { queryOptions } from '@tanstack/react-query';
import { operationQuery } from '../../client/queries.ts';
import type { ContentSource } from '../../ui/content/content-query.ts';

/** The chosen parts of the run behind a share link. */
export const sharedRunQuery = (token: string) =>
  queryOptions({ ...operationQuery('getSharedRun', { params: { share_token: token } }), retry: false });

/** Returns the source of a content of a shared run: its input, output, log or an asset. */
export function getSharedSource(token: string, part: string): ContentSource {
  const url = `/v1/shared/${encodeURIComponent(token)}/content/${encodeURIComponent(part)}`;
  return { key: ['shared', token, part], getUrl: async () => url };
}
