/** The Prefer header of a request (RFC 7240). */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether the caller asks for the resource in the response. Of several values of one preference the first counts; what is
 * not understood is ignored, as the RFC asks.
 */
export function prefersRepresentation(headers: IncomingHttpHeaders): boolean {
  const preferences = [headers.prefer ?? []].flat().flatMap((line) => line.split(','));
  for (const preference of preferences) {
    const match = /^\s*return\s*=\s*"?([a-z]+)"?\s*(?:;.*)?$/i.exec(preference);
    if (match) return match[1]?.toLowerCase() === 'representation';
  }
  return false;
}
