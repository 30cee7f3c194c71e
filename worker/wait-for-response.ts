/** The response of an HTTP request of Node, as a promise. */
import type { ClientRequest, IncomingMessage } from 'node:http';

/** Resolves with the response; rejects with the error of the connection. */
export function waitForResponse(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Not once: a later error without a listener would end the process.
    request.on('error', reject);
  });
}
