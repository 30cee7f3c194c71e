/**
 * The thread that moves the WAL into the database file; see sqlite.ts.
 *
 * A PASSIVE checkpoint never makes a writer wait, but under a steady load it never lets the WAL start again from its
 * beginning either: there is always another commit behind what it has moved. TRUNCATE does, and makes writers wait
 * meanwhile, so it comes right after a PASSIVE one has left it little to do, and only for a WAL that has grown long.
 */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const { path, truncateBytes } = workerData as { path: string; truncateBytes: number };
const connection = new DatabaseSync(path);
connection.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma busy_timeout = 2000');
const pageBytes = Number(connection.prepare('pragma page_size').get()?.page_size);

parentPort?.on('message', () => {
  try {
    const pages = Number(connection.prepare('pragma wal_checkpoint(passive)').get()?.log);
    if (pages * pageBytes > truncateBytes) connection.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // A full disk fails the transactions too, which say so; a checkpoint is tried again in a moment.
  } finally {
    parentPort?.postMessage('done');
  }
});
