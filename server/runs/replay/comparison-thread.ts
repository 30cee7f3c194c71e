/** The thread in which read-outputs.ts compares large outputs, so that the main thread continues to serve requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { compareJsonOutputs } from './compare-outputs.ts';
import type { ComparisonThreadInput } from './read-outputs.ts';

const { original, replay }: ComparisonThreadInput = workerData;
const decode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
parentPort?.postMessage(compareJsonOutputs(decode(original), decode(replay)));
