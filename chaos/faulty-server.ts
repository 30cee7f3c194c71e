/**
 * The server under test: the shipped program with an adjustable clock and a disk with adjustable sync delay. The parent
 * process sets both, by an argument at the start and by messages later.
 */
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { systemClock } from '../server/platform/clock.ts';
import { sleep } from '../server/testing/host/sleep.ts';

/** A message from the parent; absent fields stay unchanged. */
export interface FaultSettings {
  /** Offset of the clock. */
  clockAheadMs?: number;
  /** Additional duration of each sync. */
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

// Imported after the patch, so that the server uses the slow syncs.
const { runProcess } = await import('../server/process.ts');
await runProcess({ site: '', clock: { ...systemClock, now: () => Date.now() + clockAheadMs } });
