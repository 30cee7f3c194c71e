/** The thread in which read-outputs.ts compares large outputs, so that the main thread continues to serve requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { decodeUtf8 } from '@switchyard/contract/decode-utf8.ts';
import { compareJsonOutputs } from './compare-outputs.ts';
import type { ComparisonThreadInput } from './read-outputs.ts';

const { original, replay }: ComparisonThreadInput = workerData;
parentPort?.postMessage(compareJsonOutputs(decodeUtf8(original), decodeUtf8(replay)));
