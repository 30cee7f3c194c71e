/** A process that executes runs: entered among the workers, alive as long as it says so, and retired when it stops. */
import type { Runner } from '@switchyard/runner';
import type { Config } from '../config.ts';
import { messageOf } from '../log.ts';
import { Slots } from '../queue/pools.ts';
import { enterWorker, heartbeat, leaveWorker, retireWorker } from '../queue/workers.ts';
import { makeId, type Random } from '../random.ts';
import { Dispatcher } from './dispatch.ts';

interface WorkParts
  extends Omit<ConstructorParameters<typeof Dispatcher>[0], 'runner' | 'slots' | 'workerId'> {
  config: Config;
  folderId: string;
  random: Random;
  closers: (() => Promise<void>)[];
}

/** Enters this process as a worker and lets it take runs. */
export async function startWork(runner: Runner, parts: WorkParts): Promise<void> {
  const { config, database, clock, log, random, closers } = parts;
  const worker = {
    id: makeId<string>(random, 'worker'),
    folderId: parts.folderId,
    capacity: config.capacity,
  };
  await enterWorker(database, worker, clock.now());
  closers.push(() => leaveWorker(database, worker));
  const beats = heartbeat({ database, worker, clock, log });
  beats.start();
  closers.push(() => beats.stop());
  const dispatcher = new Dispatcher({
    ...parts,
    runner,
    slots: new Slots(config.capacity),
    workerId: worker.id,
  });
  dispatcher.start();
  closers.push(() => dispatcher.drain());
  closers.push(() =>
    retireWorker(database, worker).catch((error: unknown) =>
      log.warn({ error: messageOf(error) }, 'The other servers could not be told that this worker stops.'),
    ),
  );
}
