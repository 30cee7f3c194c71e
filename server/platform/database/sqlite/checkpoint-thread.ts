/**
 * The thread that moves the WAL into the database file; see sqlite.ts.
 *
 * A PASSIVE checkpoint never makes a writer wait. Under a steady load it never lets the WAL restart from its beginning,
 * because there is always another commit behind the moved pages. RESTART does, but writers wait for it. It therefore runs
 * only for a long WAL and right after a PASSIVE checkpoint, which leaves it little to do. It also waits for readers, and a
 * backup reads for a long time: while a backup holds the blobs, RESTART does not wait, and the WAL may grow.
 */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** The thread restarts a WAL that is longer than `restartBytes`. */
export interface CheckpointThreadData {
  path: string;
  restartBytes: number;
}

const { path, restartBytes }: CheckpointThreadData = workerData;
const connection = new DatabaseSync(path);
connection.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');
const pageBytes = Number(connection.prepare('pragma page_size').get()?.page_size);

function isBackedUp(): boolean {
  const held = 'select 1 from backup_holds where expires_at > unixepoch() * 1000';
  return connection.prepare(held).get() !== undefined;
}

parentPort?.on('message', () => {
  try {
    // The WAL file never shrinks: the checkpoint returns the number of pages in use.
    const pages = Number(connection.prepare('pragma wal_checkpoint(passive)').get()?.log);
    if (pages * pageBytes > restartBytes) {
      connection.exec(`pragma busy_timeout = ${isBackedUp() ? 0 : 2000}`);
      connection.exec('pragma wal_checkpoint(restart)');
    }
  } catch {
    // A full disk also fails transactions, which report it. The next checkpoint follows within a second.
  } finally {
    parentPort?.postMessage('done');
  }
});
