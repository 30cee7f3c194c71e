/** The program: `node worker/process.ts --server … --token …` executes runs of a server on this machine. */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_VERSION } from '@switchyard/contract/limits.ts';
import { startRunner } from '@switchyard/runner';
import { getErrorMessage } from '@switchyard/runner/process/errors.ts';
import { pino } from 'pino';
import { ApiProxy } from './access/api-proxy.ts';
import type { WorkerClock, WorkerLog } from './environment.ts';
import { SlotTracker } from './execute/slots.ts';
import { acquireFolderLock, FolderInUseError } from './folder-lock.ts';
import { HttpClient } from './remote/http-client.ts';
import { RemoteWorker } from './remote/remote-worker.ts';
import { ServerConnection } from './remote/server-connection.ts';
import { HELP, readWorkerSettings, SettingError, type WorkerSettings } from './remote/settings.ts';

/** The clock of the machine. Its timers keep the process alive: between two requests nothing else does. */
const clock: WorkerClock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Steps of the end, which runs them in the reverse order. */
type Closers = (() => Promise<void> | void)[];

async function runWorker(settings: WorkerSettings, log: WorkerLog, closers: Closers): Promise<void> {
  const folder = await openFolder(settings, closers);
  const runner = await startRunner({
    folder: join(folder.path, 'runner'),
    ...(settings.containment ? { containment: settings.containment } : {}),
    randomBytes,
    onDiagnostic: (event) => log[event.level]({ event: event.event, run: event.runKey }, event.message),
  });
  closers.push(() => runner.close());
  const socketsFolder = join(folder.path, 'api-sockets');
  // A process that was killed leaves its sockets.
  await rm(socketsFolder, { recursive: true, force: true });
  const http = new HttpClient(settings.server, settings.token);
  closers.push(() => http.close());
  const api = Promise.resolve({ url: http.url, isOwn: false });
  const apiProxy = new ApiProxy({ api, socketsFolder, log });
  closers.push(() => apiProxy.close());
  const capacity = { shared: settings.slots, perClass: {} };
  const worker = new RemoteWorker({
    ...{ runner, clock, log, apiProxy, folderId: folder.id, idleMs: settings.idleMs },
    resources: settings.resources ?? settings.allocation,
    slots: new SlotTracker(capacity),
    server: new ServerConnection({ http, clock, log }),
    registration: {
      version: API_VERSION,
      host: hostname(),
      folder_id: folder.id,
      containment: runner.host.containment,
      slots: { shared: capacity.shared, per_class: capacity.perClass },
      resources: settings.resources && {
        cores: settings.resources.cores,
        memory_bytes: settings.resources.memoryBytes,
      },
      scratch_bytes: settings.allocation.scratchBytes,
      labels: settings.labels,
      job_id: settings.jobId,
    },
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void worker.stop());
  await worker.run();
}

async function openFolder({ data }: WorkerSettings, closers: Closers): Promise<{ path: string; id: string }> {
  if (data === null) {
    const path = await mkdtemp(join(tmpdir(), 'switchyard-worker-'));
    closers.push(() => rm(path, { recursive: true, force: true }));
    return { path, id: randomBytes(16).toString('hex') };
  }
  await mkdir(data, { recursive: true, mode: 0o700 });
  const lock = acquireFolderLock(
    data,
    `--data is "${data}", which another worker or server uses. Give each its own folder.`,
  );
  closers.push(() => lock.release());
  return { path: data, id: lock.folderId };
}

async function main(): Promise<number> {
  const closers: Closers = [];
  try {
    const settings = readWorkerSettings(process.argv.slice(2), process.env);
    if (!settings) {
      process.stdout.write(HELP);
      return 0;
    }
    const log = pino(
      { level: 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
      pino.destination({ dest: 2, sync: false }),
    );
    await runWorker(settings, log, closers);
    return 0;
  } catch (error) {
    const isExpected = error instanceof SettingError || error instanceof FolderInUseError;
    process.stderr.write(`${isExpected ? '' : 'The worker ended: '}${getErrorMessage(error)}\n`);
    return 1;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

if (import.meta.main) process.exit(await main());
