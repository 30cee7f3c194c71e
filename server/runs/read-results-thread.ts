/** The thread that parses large outputs; see read-results.ts. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Mask } from '../secrets/mask.ts';
import { readJson } from './read-json.ts';
import type { ThreadWork } from './read-results.ts';

const { content, source, secrets } = workerData as ThreadWork;
const bytes = typeof content === 'string' ? readFileSync(content) : Buffer.from(content);
parentPort?.postMessage(readJson(bytes.toString('utf8'), source, new Mask(secrets)));
