/** The thread that moves the WAL into the database file; see sqlite.ts. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const connection = new DatabaseSync((workerData as { path: string }).path);
connection.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma busy_timeout = 2000');

parentPort?.on('message', (mode: 'passive' | 'restart') => {
  connection.exec(`pragma wal_checkpoint(${mode})`);
  parentPort?.postMessage('done');
});
