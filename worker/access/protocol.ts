/**
 * Messages between a worker and its API proxy, sent as JSON over the channel between the two processes. The proxy can read the
 * files of this folder alone, so it imports nothing but types from elsewhere.
 */
import type { TraceVariables } from '@switchyard/contract/workers/job-schemas.ts';

/** The server as the proxy reaches it. */
export interface ApiTarget {
  /** Without a trailing slash. */
  url: string;
  /** true: the address on which this process listens, whose certificate is for another name. */
  isOwn: boolean;
}

/** The access of one run. */
export interface ProxiedAccess {
  id: string;
  /** The run token of the attempt, by which the proxy knows the connections of its app. */
  token: string;
  /** The name of its folder for a socket; null for a port of the loopback, whose handle comes with the message. */
  folder: string | null;
  /** The proof that the proxy adds to each request, and its header; empty while it does not exist yet. */
  proof: string;
  proofHeader: string;
  /** The variables of the app's span; empty without one. */
  trace: TraceVariables;
}

/** Request of the worker to its proxy. */
export type ProxyRequest =
  | { type: 'target'; target: ApiTarget }
  | { type: 'open'; access: ProxiedAccess }
  | { type: 'prove'; id: string; proof: string }
  | { type: 'close'; id: string };

/** Message of the proxy to its worker. */
export type ProxyMessage =
  | { type: 'opened'; id: string; port: number }
  | { type: 'failed'; id: string; error: string }
  | { type: 'closed'; id: string };

export const SOCKETS_DESCRIPTOR = 4;
/** The name of the socket in the folder of its access. */
export const SOCKET_NAME = 'socket';
