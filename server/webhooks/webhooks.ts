/** Webhooks, put together: their operations, and what works on them by itself. */
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Encryptor } from '../database/encryption.ts';
import type { PageTokens } from '../http/lists/pagination.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Log } from '../log.ts';
import type { Random } from '../random.ts';
import { type AddressRule, allowLoopback, allowNetworks, type ResolveName } from './addresses.ts';
import { createWebhookCleanUpJob } from './clean-up.ts';
import { DeliveryWorker } from './deliveries.ts';
import { createFanOutJob } from './fan-out.ts';
import { webhookHandlers } from './operations.ts';

interface Parts {
  database: Database;
  seal: Encryptor;
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
  resolve: ResolveName;
}

export function createWebhookService(parts: Parts) {
  const { networks, isLocal } = parts;
  const allowsFor = (isGivenLocally: boolean): AddressRule =>
    networks === null
      ? (address) => isGivenLocally && isLocal() && allowLoopback(address)
      : allowNetworks(networks);
  const cleaner = createWebhookCleanUpJob(parts);
  return {
    handlers: webhookHandlers({
      ...parts,
      addressRuleFor: allowsFor,
      onWebhookDeleted: () => cleaner.wake(),
    }),
    /** To be started once the server listens: before that nobody knows who else reaches it. */
    workers: [createFanOutJob(parts), new DeliveryWorker({ ...parts, addressRuleFor: allowsFor }), cleaner],
  };
}
