/** The thread that parses large outputs; see read-results.ts. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Mask } from '../secrets/mask.ts';
import { summarizeOutput } from './read-results.ts';

const { path, secrets } = workerData as { path: string; secrets: readonly string[] };
parentPort?.postMessage(summarizeOutput(readFileSync(path, 'utf8'), new Mask(secrets)));
