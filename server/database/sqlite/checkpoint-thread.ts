/**
 * The thread that moves the WAL into the database file; see sqlite.ts.
 *
 * A PASSIVE checkpoint never makes a writer wait, but under a steady load it never lets the WAL start again from its
 * beginning either: there is always another commit behind what it has moved. RESTART does, and makes writers wait
 * meanwhile, so it comes right after a PASSIVE one has left it little to do, and only for a WAL that has grown long. It
 * waits for readers too, and a backup reads for long: while one holds the blobs, RESTART is tried without waiting for
 * anybody, and the WAL may grow.
 */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const { path, restartBytes } = workerData as { path: string; restartBytes: number };
const connection = new DatabaseSync(path);
connection.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');
const pageBytes = Number(connection.prepare('pragma page_size').get()?.page_size);

function isBackedUp(): boolean {
  const held = 'select 1 from backup_holds where expires_at > unixepoch() * 1000';
  return connection.prepare(held).get() !== undefined;
}

parentPort?.on('message', () => {
  try {
    // The file is kept at its length; how much of it is in use is what the checkpoint answers.
    const pages = Number(connection.prepare('pragma wal_checkpoint(passive)').get()?.log);
    if (pages * pageBytes > restartBytes) {
      connection.exec(`pragma busy_timeout = ${isBackedUp() ? 0 : 2000}`);
      connection.exec('pragma wal_checkpoint(restart)');
    }
  } catch {
    // A full disk fails the transactions too, which say so; a checkpoint is tried again in a moment.
  } finally {
    parentPort?.postMessage('done');
  }
});
