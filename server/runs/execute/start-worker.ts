/** Starts the worker of this process: registers it, sends its heartbeats, and removes it on shutdown. */
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { API_VERSION } from '@switchyard/contract/limits.ts';
import type { Runner } from '@switchyard/runner';
import { ApiProxy } from '@switchyard/worker/access/api-proxy.ts';
import type { ApiTarget } from '@switchyard/worker/access/protocol.ts';
import { SlotTracker } from '@switchyard/worker/execute/slots.ts';
import type { Config } from '../../platform/config.ts';
import { errorMessage } from '../../platform/log.ts';
import { makeId, type Random } from '../../platform/random.ts';
import {
  deregisterWorker,
  markWorkerDraining,
  registerWorker,
  sendHeartbeatsJob,
  type Worker,
} from '../workers/workers.ts';
import { Dispatcher } from './dispatcher.ts';

interface StartWorkerParts
  extends Omit<
    ConstructorParameters<typeof Dispatcher>[0],
    'runner' | 'slots' | 'workerId' | 'offer' | 'apiProxy'
  > {
  config: Config;
  random: Random;
  closers: (() => Promise<void>)[];
  /** Resolves with the server as the apps of this worker reach it, once it listens; null without an address. */
  api: Promise<ApiTarget | null>;
}

/** Registers this process as a worker and starts to claim runs; `closers` receives the steps of the shutdown. */
export async function startWorker(runner: Runner, parts: StartWorkerParts): Promise<void> {
  const { config, database, clock, log, random, closers } = parts;
  const worker: Worker = {
    id: makeId<string>(random, 'worker'),
    folderId: parts.folderId,
    capacity: config.capacity,
    host: hostname(),
    version: API_VERSION,
    startedAt: clock.now(),
    kind: 'process',
    offer: { labels: config.labels, resources: config.resources, scope: null },
    scratchBytes: config.resources?.scratchBytes ?? null,
    tokenId: null,
    jobId: null,
    containment: runner.host.containment,
  };
  await registerWorker(database, worker, worker.startedAt);
  closers.push(() => deregisterWorker(database, worker.id));
  const heartbeats = sendHeartbeatsJob({ ...parts, worker });
  heartbeats.start();
  closers.push(() => heartbeats.stop());
  const socketsFolder = join(config.data, 'api-sockets');
  // A process that was killed leaves its sockets.
  await rm(socketsFolder, { recursive: true, force: true });
  const apiProxy = new ApiProxy({ api: parts.api, socketsFolder, log });
  closers.push(() => apiProxy.close());
  const dispatcher = new Dispatcher({
    ...parts,
    apiProxy,
    runner,
    slots: new SlotTracker(config.capacity),
    workerId: worker.id,
    offer: worker.offer,
  });
  dispatcher.start();
  closers.push(() => dispatcher.drain());
  closers.push(() =>
    markWorkerDraining(database, worker.id).catch((error: unknown) =>
      log.warn({ error: errorMessage(error) }, 'Other servers could not be notified that this worker stops.'),
    ),
  );
}
