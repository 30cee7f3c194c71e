/**
 * Gives new callers of a busy server their first response soon. While new callers come, each turn of the event loop
 * handles one request. Without new callers, a turn handles waiting requests for a few milliseconds. Addresses take turns,
 * and so do the connections of each: each has one request handled before any has a second. Turns that accept a connection
 * handle fewer; see accepts.ts.
 *
 * Measured reasons:
 * - Node accepts one connection in a turn. When every turn handled all waiting requests, a new caller waited one such long
 *   turn for each new caller before it. Of 500 simultaneous callers, 79 had a response after five seconds.
 * - Concurrent runs share a commit. At 100 connections, one request in each turn halved the runs created in a second.
 * - 200 callers with 100 streams of HTTP/2 each kept a new caller waiting for all of their requests.
 * - 400 sessions of one address kept a caller of another waiting for 400 turns of the event loop: 0.6 s.
 * - A flood by the apps of eight runs came over a hundred connections of the API proxy. Other callers on the host of the
 *   server waited 0.5 s for them, so these connections have a turn of their own.
 *
 * Requests on one connection of HTTP/1.1 are handled one after the other, because their responses are sent in order.
 * request-feed.ts keeps the following ones out of the parser. Streams of HTTP/2 have no such order; connections.ts bounds
 * their number.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RUN_PROOF_HEADER } from '@switchyard/contract/run-proof-header.ts';
import { Accepts, type TurnShare } from './accepts.ts';
import { getHttp2Stream } from './http2-stream.ts';
import { addressBucketKey } from './rate-limit.ts';

/** Turns with a single request after the last new caller, in which Node can accept the next one. */
const SINGLE_TURNS_PER_NEW_CLIENT = 8;
/** The time after which a turn begins no other request. */
const TURN_MS = 5;

type Exchange = [IncomingMessage, ServerResponse];

/** The requests of a server in turns of its event loop. */
interface Turns {
  /** Has `handleNext` called once, in the first turn with time for it. */
  schedule(): void;
  /** Makes the next turns call it once each, so that Node can accept the following callers. */
  shorten(): void;
}

/**
 * Each request has a callback of its own, so that the time of a turn includes what follows the promises of a request.
 */
function createTurns(handleNext: () => void, accepts: Accepts): Turns {
  const getShare = accepts.follow();
  let remainingSingleTurns = 0;
  /** The time at which the current turn ends, -Infinity once it handles no other request; null between turns. */
  let turnEnd: number | null = null;
  const startTurn = (): TurnShare => {
    const share = getShare();
    const isLong = share === 'usual' && remainingSingleTurns <= 0;
    if (share !== 'nothing') remainingSingleTurns -= 1;
    turnEnd = isLong ? performance.now() + TURN_MS : Number.NEGATIVE_INFINITY;
    // Runs in the next turn before all callbacks that wait for it.
    setImmediate(() => {
      turnEnd = null;
    });
    return share;
  };
  const mayHandle = (): boolean =>
    turnEnd === null ? startTurn() !== 'nothing' : performance.now() < turnEnd;
  const handleOne = (): void => {
    if (mayHandle()) handleNext();
    else setImmediate(handleOne);
  };
  return {
    schedule: () => setImmediate(handleOne),
    shorten() {
      remainingSingleTurns = SINGLE_TURNS_PER_NEW_CLIENT;
    },
  };
}

/** Addresses take turns, and so do the connections of each. */
class WaitingRequests {
  /** By address and connection, both in the order of their turns; those without a request are absent. */
  readonly #callers = new Map<string, Map<object, Exchange[]>>();

  add(exchange: Exchange, connection: object, address: string): void {
    const connections = this.#callers.get(address) ?? new Map<object, Exchange[]>();
    this.#callers.set(address, connections);
    const exchanges = connections.get(connection);
    if (exchanges) exchanges.push(exchange);
    else connections.set(connection, [exchange]);
  }

  /** Removes the next request, and moves its address and its connection behind the others. */
  removeNext(): Exchange | undefined {
    for (const [address, connections] of this.#callers) {
      this.#callers.delete(address);
      for (const [connection, exchanges] of connections) {
        connections.delete(connection);
        const exchange = exchanges.shift();
        if (exchanges.length > 0) connections.set(connection, exchanges);
        if (connections.size > 0) this.#callers.set(address, connections);
        return exchange;
      }
    }
    return undefined;
  }
}

/** Returns a listener that queues requests for `handle`; it drops requests whose caller disconnects while they wait. */
export function fairly(handle: RequestListener, accepts = new Accepts()): RequestListener {
  const waiting = new WaitingRequests();
  /** The address of each connection with a request so far. */
  const addresses = new WeakMap<object, string>();
  /** The requests behind the one in progress, by connection. */
  const pipelined = new WeakMap<Socket, Exchange[]>();
  const handleNext = (): void => {
    const exchange = waiting.removeNext();
    if (!exchange) return;
    const [request, response] = exchange;
    if (!request.destroyed && !response.destroyed) handle(request, response);
  };
  const turns = createTurns(handleNext, accepts);
  const enqueue = (exchange: Exchange, connection: object): void => {
    waiting.add(exchange, connection, addresses.get(connection) ?? '');
    turns.schedule();
  };
  const enqueueFirst = (exchange: Exchange, socket: Socket): void => {
    exchange[1].once('close', () => enqueueFollowing(socket));
    enqueue(exchange, socket);
  };
  const enqueueFollowing = (socket: Socket): void => {
    const next = pipelined.get(socket)?.shift();
    if (next && !socket.destroyed) enqueueFirst(next, socket);
    else pipelined.delete(socket);
  };
  const noteClient = (connection: object, { headers, socket }: IncomingMessage): void => {
    // A connection counts as new at its first request, not when it opens.
    if (addresses.has(connection)) return;
    const address = addressBucketKey(socket.remoteAddress ?? '');
    // A caller that forges the header has two turns instead of one.
    addresses.set(connection, headers[RUN_PROOF_HEADER] === undefined ? address : `${address} apps`);
    turns.shorten();
  };
  return (request, response) => {
    const { socket } = request;
    const stream = getHttp2Stream(request);
    const connection = stream?.session ?? socket;
    noteClient(connection, request);
    if (stream) {
      enqueue([request, response], connection);
      return;
    }
    const following = pipelined.get(socket);
    if (following) {
      following.push([request, response]);
      return;
    }
    pipelined.set(socket, []);
    enqueueFirst([request, response], socket);
  };
}
