/** The thread that parses large outputs; see read-results.ts. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { summarizeOutput } from './read-results.ts';

parentPort?.postMessage(summarizeOutput(readFileSync((workerData as { path: string }).path, 'utf8')));
