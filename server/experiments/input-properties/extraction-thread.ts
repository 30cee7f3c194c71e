/** The thread in which property-reader.ts parses large inputs, so that the main thread continues to serve requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { extractProperties } from './extract-properties.ts';
import type { FieldSources } from './property-sources.ts';

const sources: FieldSources = workerData;
parentPort?.on('message', (bytes: Uint8Array) => parentPort?.postMessage(extractProperties(bytes, sources)));
