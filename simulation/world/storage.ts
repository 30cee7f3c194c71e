/** Where the servers of a world keep their rows, when it is not a disk of one server. */
import type { Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { ServerParts, SimulatedServer } from '../machine/simulated-server.ts';
import type { ObservedConnection } from '../model/observer.ts';
import type { Cluster } from '../postgres/cluster.ts';

/** One server, or several that do the same. */
export type Servers = Pick<
  SimulatedServer,
  | 'isListening'
  | 'running'
  | 'rootToken'
  | 'start'
  | 'crash'
  | 'restart'
  | 'stop'
  | 'readJobs'
  | 'pause'
  | 'continue'
  | 'moveClock'
  | 'handle'
> & { readonly refusedStarts: readonly string[] };

/** The database of a world with its servers. */
export interface Storage {
  servers: Servers;
  cluster: Cluster;
  /** Returns true while the database executes something. */
  isBusy(): boolean;
  /** Resolves when the database may have ended something. */
  rest(): Promise<void>;
  /** Returns a connection that reads the last commit. */
  observe(): ObservedConnection;
  /** How often each fault of the database happened. */
  counts: ReadonlyMap<string, number>;
  heal(): void;
  /** Later worlds begin with these rows. */
  saveTemplate(): void;
  close(): void;
}

interface StorageParts {
  scheduler: Scheduler;
  /** The world creates the rows with which others begin. */
  isTemplate: boolean;
  /** A folder in memory. */
  folder: string;
  createDraws(purpose: string): Draws;
  createServerParts(name: string): Omit<ServerParts, 'disk' | 'name'>;
}

/** Opens the storage of a world. */
export type OpenStorage = (parts: StorageParts) => Storage;
