/**
 * One checkpoint: it moves the WAL into the database file. The thread of checkpoints runs it.
 *
 * A PASSIVE checkpoint never makes a writer wait. Under a steady load it never lets the WAL restart from its beginning,
 * because there is always another commit behind the moved pages. RESTART does, but writers wait for it. It therefore runs
 * only for a long WAL and right after a PASSIVE checkpoint, which leaves it little to do. It also waits for readers, and a
 * backup reads for a long time: while a backup holds the blobs, RESTART does not wait, and the WAL may grow.
 */
import { DatabaseSync } from 'node:sqlite';

/** Returns a function that runs one checkpoint. It restarts a WAL that is longer than `restartBytes`. */
export function openCheckpoint(path: string, restartBytes: number): { run(): void; close(): void } {
  const connection = new DatabaseSync(path);
  connection.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0');
  const pageBytes = Number(connection.prepare('pragma page_size').get()?.page_size);
  const isBackedUp = (): boolean => {
    const held = 'select 1 from backup_holds where expires_at > unixepoch() * 1000';
    return connection.prepare(held).get() !== undefined;
  };
  return {
    run() {
      // The WAL file never shrinks: the checkpoint returns the number of pages in use.
      const pages = Number(connection.prepare('pragma wal_checkpoint(passive)').get()?.log);
      if (pages * pageBytes <= restartBytes) return;
      connection.exec(`pragma busy_timeout = ${isBackedUp() ? 0 : 2000}`);
      connection.exec('pragma wal_checkpoint(restart)');
    },
    close: () => connection.close(),
  };
}
