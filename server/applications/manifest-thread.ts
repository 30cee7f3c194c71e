/** The thread that parses one manifest (see parse-manifest.ts). Posts the manifest in JSON, or an error message. */
import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';

/** More aliases are an attack: aliases of aliases multiply (the "billion laughs"). */
const ALIASES_MAX = 100;

function parseYaml(text: string): { json: string } | { error: string } {
  let manifest: unknown;
  try {
    manifest = parse(text, { maxAliasCount: ALIASES_MAX });
  } catch (error) {
    return {
      error: `app.yaml is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : ''}`,
    };
  }
  try {
    return { json: JSON.stringify(manifest) ?? 'null' };
  } catch {
    return { error: 'app.yaml is nested too deep.' };
  }
}

const text: string = workerData;
parentPort?.postMessage(parseYaml(text));
