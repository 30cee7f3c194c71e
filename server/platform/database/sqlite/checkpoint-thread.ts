/** The thread that moves the WAL into the database file; see checkpoint.ts and sqlite.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { openCheckpoint } from './checkpoint.ts';

/** The thread restarts a WAL that is longer than `restartBytes`. */
export interface CheckpointThreadData {
  path: string;
  restartBytes: number;
}

const { path, restartBytes }: CheckpointThreadData = workerData;
const checkpoint = openCheckpoint(path, restartBytes);

parentPort?.on('message', () => {
  try {
    checkpoint.run();
  } catch {
    // A full disk also fails transactions, which report it. The next checkpoint follows within a second.
  } finally {
    parentPort?.postMessage('done');
  }
});
