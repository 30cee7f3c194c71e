/** Signed URLs of the server. Requests go to the address by which this machine reaches the server, whatever name the URL has. */

/** Returns the id at the end of the path, and the query, as the operations of uploads and downloads want them. */
export function readSignedUrl(url: string): { id: string; query: Record<string, string> } {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  return {
    id: decodeURIComponent(pathname.split('/').at(-1) ?? ''),
    query: Object.fromEntries(searchParams),
  };
}
