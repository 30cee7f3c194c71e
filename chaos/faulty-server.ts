/**
 * The server as the torture starts it: the program that ships, on a clock that can be set wrong and a disk that can be slow
 * to sync. How wrong and how slow, the process that started it says, at the start by an argument and later by messages.
 */
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { systemClock } from '../server/clock.ts';
import { sleep } from '../server/testing/host/sleep.ts';

/** What the process is told; what is left out stays as it is. */
export interface FaultSettings {
  /** How far its clock is ahead. */
  clockAheadMs?: number;
  /** How much longer each sync takes. */
  syncDelayMs?: number;
}

let clockAheadMs = Number(process.argv[2] ?? 0);
let syncDelayMs = 0;
process.on('message', (order: FaultSettings) => {
  clockAheadMs = order.clockAheadMs ?? clockAheadMs;
  syncDelayMs = order.syncDelayMs ?? syncDelayMs;
});

const { fdatasync } = fs;
fs.fdatasync = ((fd, done) => {
  if (syncDelayMs === 0) fdatasync(fd, done);
  else setTimeout(() => fdatasync(fd, done), syncDelayMs);
}) as typeof fdatasync;
const handle = await open(import.meta.filename);
const kind = Object.getPrototypeOf(handle) as { sync(): Promise<void> };
await handle.close();
const { sync } = kind;
kind.sync = async function slow(this: unknown) {
  if (syncDelayMs > 0) await sleep(syncDelayMs);
  return sync.call(this);
};
syncBuiltinESMExports();

// Loaded only now, so that it finds the slow syncs in place.
const { runProcess } = await import('../server/process.ts');
await runProcess({ clock: { ...systemClock, now: () => Date.now() + clockAheadMs } });
