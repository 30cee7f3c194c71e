/**
 * Reads a manifest in a thread of its own with limits of time and memory: reading YAML takes the square of the time for
 * some texts, and a quarter of a megabyte of keys would hold up everybody's requests for more than a minute.
 */
import { Worker } from 'node:worker_threads';
import { MANIFEST_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Clock } from '../clock.ts';
import { errorMessage } from '../log.ts';

const READ_MS_MAX = 20_000;
const READ_MEGABYTES_MAX = 256;
const TOO_MUCH = 'app.yaml takes too much time or memory to read; make it simpler.';

/** What the manifest holds, as JSON knows it, or the sentence that says why it cannot be read. */
export function readManifest(text: string, clock: Clock): Promise<{ manifest: unknown } | { error: string }> {
  const worker = new Worker(new URL('./manifest-thread.ts', import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: READ_MEGABYTES_MAX },
  });
  return new Promise((resolve) => {
    const settle = (answer: { manifest: unknown } | { error: string }): void => {
      stopWaiting();
      resolve(answer);
      void worker.terminate();
    };
    const stopWaiting = clock.after(READ_MS_MAX, () => settle({ error: TOO_MUCH }));
    worker.once('message', (read: { json: string } | { error: string }) => {
      if ('error' in read) settle(read);
      // JSON spells aliases out, so that a short manifest can become a very long one.
      else if (read.json.length > 4 * MANIFEST_BYTES_MAX)
        settle({
          error: `app.yaml is longer than ${4 * MANIFEST_BYTES_MAX} characters with its aliases spelt out.`,
        });
      else settle({ manifest: JSON.parse(read.json) as unknown });
    });
    worker.once('error', (error: Error & { code?: string }) =>
      settle({
        error:
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? TOO_MUCH
            : `app.yaml cannot be read: ${errorMessage(error)}`,
      }),
    );
  });
}
