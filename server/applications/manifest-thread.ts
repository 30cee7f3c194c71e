/** The thread that reads one manifest; see read-manifest.ts. Answers it as JSON, or what is wrong with it. */
import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';

/** How often a manifest may repeat a part of itself by name. */
const ALIASES_MAX = 100;

function read(text: string): { json: string } | { error: string } {
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

parentPort?.postMessage(read(workerData as string));
