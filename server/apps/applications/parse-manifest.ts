/**
 * Parses a manifest, a long one in a worker thread with limits on time and memory, and validates it. The YAML parser takes quadratic time for some
 * texts: a quarter of a megabyte of keys would block every request for more than a minute.
 */
import { Worker } from 'node:worker_threads';
import { checkManifest } from '@switchyard/contract/applications/manifest/check-manifest.ts';
import { ActivatedManifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import { MANIFEST_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { classifyUnavailable } from '../../platform/http/errors/service-unavailable.ts';
import { errorMessage } from '../../platform/log.ts';
import { parseYaml } from './manifest-yaml.ts';

const PARSE_TIMEOUT_MS = 20_000;
const HEAP_MEGABYTES_MAX = 256;
const LIMIT_MESSAGE = 'app.yaml takes too much time or memory to read; make it simpler.';

/**
 * A manifest of up to this many characters is parsed in less than 10 ms, also a hostile one. The thread takes 70 ms of
 * processor time.
 */
const SHORT_CHARACTERS_MAX = 1024;

/** A valid manifest with the warnings about it, or the message that says why there is none. */
type ParsedManifest = ReturnType<typeof checkManifest<typeof ActivatedManifest>>;

/**
 * Returns the valid manifest, or the message that says why it cannot be read. Throws an error of the machine, which
 * `classifyUnavailable` knows.
 */
export async function parseManifest(text: string, clock: Clock): Promise<ParsedManifest> {
  const parsed = await parseText(text, clock);
  if ('error' in parsed) return parsed;
  return checkManifest(ActivatedManifest, parsed.manifest);
}

type ParsedText = { manifest: unknown } | { error: string };

async function parseText(text: string, clock: Clock): Promise<ParsedText> {
  if (text.length <= SHORT_CHARACTERS_MAX) {
    const { parse } = await import('yaml');
    const parsed = parseYaml(parse, text);
    // After an error the thread decides, because its stack allows deeper nesting.
    if ('json' in parsed) return { manifest: JSON.parse(parsed.json) as unknown };
  }
  return parseInThread(text, clock);
}

function parseInThread(text: string, clock: Clock): Promise<ParsedText> {
  const worker = new Worker(new URL('./manifest-thread.ts', import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
  });
  return new Promise((resolve, reject) => {
    const end = (): void => {
      cancelTimeout();
      void worker.terminate();
    };
    const finish = (result: ParsedText): void => {
      resolve(result);
      end();
    };
    const cancelTimeout = clock.after(PARSE_TIMEOUT_MS, () => finish({ error: LIMIT_MESSAGE }));
    worker.once('message', (parsed: { json: string } | { error: string }) => {
      if ('error' in parsed) finish(parsed);
      // JSON repeats the content of each alias, so a short manifest can become very long.
      else if (parsed.json.length > 4 * MANIFEST_BYTES_MAX)
        finish({
          error: `app.yaml is longer than ${4 * MANIFEST_BYTES_MAX} characters with its aliases spelt out.`,
        });
      else finish({ manifest: JSON.parse(parsed.json) as unknown });
    });
    worker.once('error', (error: Error & { code?: string }) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return finish({ error: LIMIT_MESSAGE });
      // A thread that could not load the parser says nothing about the manifest.
      if (classifyUnavailable(error) === null)
        return finish({ error: `app.yaml cannot be read: ${errorMessage(error)}` });
      reject(error);
      end();
    });
  });
}
