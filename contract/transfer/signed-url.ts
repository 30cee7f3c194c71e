/**
 * Signed URLs of the server. They have its public address, which may need a proxy that does not run yet, or that the caller
 * cannot reach. Requests go to the address of the client.
 */

/** Returns the id at the end of the path, and the query, as the operations of uploads and downloads want them. */
export function readSignedUrl(url: string): { id: string; query: Record<string, string> } {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  return {
    id: decodeURIComponent(pathname.split('/').at(-1) ?? ''),
    query: Object.fromEntries(searchParams),
  };
}
