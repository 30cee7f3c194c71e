/** The Prefer header of a request (RFC 7240). */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns true when the request prefers the resource in the response (`return=representation`). The first of several
 * `return` preferences counts, and unknown preferences are ignored (RFC 7240, section 2).
 */
export function prefersRepresentation(headers: IncomingHttpHeaders): boolean {
  const preferences = [headers.prefer ?? []].flat().flatMap((line) => line.split(','));
  for (const preference of preferences) {
    const match = /^\s*return\s*=\s*"?([a-z]+)"?\s*(?:;.*)?$/i.exec(preference);
    if (match) return match[1]?.toLowerCase() === 'representation';
  }
  return false;
}
