/**
 * While new callers come, requests are answered one in each turn of the event loop, in the order in which they came. Node
 * accepts a single connection in a turn. When every turn answered all who are waiting, a new caller of a busy server waited
 * as many of these long turns as there are new callers before it: of 500 that came at once, 79 had an answer after five
 * seconds. When nobody is new, a turn answers all: creating runs commits what comes together, and at 100 connections one in
 * each turn made half as many in a second.
 *
 * It holds the requests that wait for their turn. Their bodies are not read meanwhile.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** For so many turns after a new caller the next one is looked for. */
const TURNS_FOR_NEW_CALLERS = 8;

/** The listener for a server. Whoever has gone when it is their turn is not answered, and nothing is done for them. */
export function inTurn(answer: RequestListener): RequestListener {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  const known = new WeakSet<Socket>();
  let turnsOfOne = 0;
  const next = (): void => {
    const now = waiting.splice(0, turnsOfOne > 0 ? 1 : waiting.length);
    turnsOfOne -= 1;
    if (waiting.length > 0) setImmediate(next);
    for (const [request, response] of now) if (!request.destroyed) answer(request, response);
  };
  return (request, response) => {
    if (!known.has(request.socket)) {
      known.add(request.socket);
      turnsOfOne = TURNS_FOR_NEW_CALLERS;
    }
    if (waiting.push([request, response]) === 1) setImmediate(next);
  };
}
