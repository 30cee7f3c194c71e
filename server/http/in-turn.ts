/**
 * Answers requests one after the other as they came, one in each turn of the event loop. Node accepts a single connection
 * in a turn. When every turn answered all who are waiting, a new caller of a busy server waited as many of these long
 * turns as there are new callers before it: of 500 that came at once, 79 had an answer after five seconds.
 *
 * It holds the requests that wait for their turn. Their bodies are not read meanwhile.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** The listener for a server. Whoever has gone when it is their turn is not answered, and nothing is done for them. */
export function inTurn(answer: RequestListener): RequestListener {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  const next = (): void => {
    const one = waiting.shift();
    if (waiting.length > 0) setImmediate(next);
    if (one && !one[0].destroyed) answer(...one);
  };
  return (request, response) => {
    if (waiting.push([request, response]) === 1) setImmediate(next);
  };
}
