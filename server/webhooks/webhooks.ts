/** Webhooks, put together: their operations, and what works on them by itself. */
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Seal } from '../database/seal.ts';
import type { Metrics } from '../http/metrics.ts';
import type { PageTokens } from '../http/paging.ts';
import type { Log } from '../log.ts';
import type { Random } from '../random.ts';
import { type Allows, allowsLoopback, allowsNetworks, type Resolve } from './addresses.ts';
import { webhookCleaner } from './cleaner.ts';
import { Deliveries } from './deliveries.ts';
import { fanOut } from './fan-out.ts';
import { webhookHandlers } from './operations.ts';

interface Parts {
  database: Database;
  seal: Seal;
  pageTokens: PageTokens;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
  /**
   * Networks that may be reached beside public addresses; null: this machine, while nobody else reaches the server, by
   * webhooks whose address was given by a caller on it.
   */
  networks: readonly string[] | null;
  /** Whether the server is for its own machine alone. */
  isLocal(): boolean;
  resolve: Resolve;
}

export function openWebhooks(parts: Parts) {
  const { networks, isLocal } = parts;
  const allowsFor = (isGivenLocally: boolean): Allows =>
    networks === null
      ? (address) => isGivenLocally && isLocal() && allowsLoopback(address)
      : allowsNetworks(networks);
  const cleaner = webhookCleaner(parts);
  return {
    handlers: webhookHandlers({ ...parts, allowsFor, onDeleted: () => cleaner.poke() }),
    /** To be started once the server listens: before that nobody knows who else reaches it. */
    workers: [fanOut(parts), new Deliveries({ ...parts, allowsFor }), cleaner],
  };
}
