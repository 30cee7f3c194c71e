/** The thread that parses one manifest (see parse-manifest.ts). Posts the manifest in JSON, or an error message. */
import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';
import { parseYaml } from './manifest-yaml.ts';

const text: string = workerData;
parentPort?.postMessage(parseYaml(parse, text));
