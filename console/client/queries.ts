/** Queries of the API for React: each request of an operation that reads has one entry in the cache. */
import type { CallArguments } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { client, isSignedOut } from './client.ts';

const RETRIES_MAX = 2;
const SERVER_ERROR_MIN = 500;
/** A page that was open a moment ago shows its data at once. */
const STALE_MS = 2_000;

/** The query of the account fails as well then, for which the layout asks the person to sign in again. */
function noticeSignOut(error: unknown): void {
  if (isSignedOut(error)) void queryClient.invalidateQueries({ queryKey: ['getAccount'] });
}

/** The cache of all queries. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => queryKey[0] !== 'getAccount' && noticeSignOut(error),
  }),
  mutationCache: new MutationCache({ onError: noticeSignOut }),
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (count, error) => !isRefusal(error) && count < RETRIES_MAX,
    },
  },
});

/** Returns true for a response that refuses the request itself, which a repetition does not change. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'status' in error && Number(error.status) < SERVER_ERROR_MIN;
}

/** The operations that read. */
type ReadingId = {
  [Id in keyof Operations]: Operations[Id]['method'] extends 'GET' ? Id : never;
}[keyof Operations];

/** Returns the query of an operation that reads; pass it to `useQuery`. */
export function operationQuery<Id extends ReadingId>(id: Id, ...request: CallArguments<Operations[Id]>) {
  return queryOptions({
    queryKey: [id, ...request],
    queryFn: async () => getBody(await client.call(id, ...request)),
  });
}

/** Returns the body of a response. The overload gives it the type that the operation declares. */
function getBody<R>(response: R): R extends { body: infer B } ? B : undefined;
function getBody(response: { body?: unknown }): unknown {
  return response.body;
}
