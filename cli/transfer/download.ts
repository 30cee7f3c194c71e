/** Reads content from the server, into a file or to standard output. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Client } from '@switchyard/contract/client.ts';
import { readSignedUrl } from '@switchyard/contract/transfer/signed-url.ts';
import { retry } from '../errors/retry.ts';
import { createTextCleaner } from '../terminal/clean-text.ts';
import type { Terminal } from '../terminal/terminal.ts';

import type { TransferOptions } from './upload.ts';

type Write = (chunk: Uint8Array) => Promise<void>;

/**
 * Reads the content of a download URL, chunk by chunk, and returns its bytes. After a lost connection it continues at the
 * first missing byte.
 */
export async function downloadContent(
  client: Client,
  url: string,
  write: Write,
  { signal = new AbortController().signal, onProgress = () => {}, onRetry }: TransferOptions = {},
): Promise<number> {
  const { id, query } = readSignedUrl(url);
  let bytes = 0;
  await retry(
    async () => {
      const headers: Record<string, string> = bytes > 0 ? { range: `bytes=${bytes}-` } : {};
      const response = await client.call('getDownload', {
        params: { download_id: id },
        query,
        headers,
        signal,
      });
      // A proxy may ignore the range; the content of a URL never changes.
      let skipped = response.status === 206 ? 0 : bytes;
      for await (const chunk of readChunks(response.body)) {
        const part = chunk.subarray(Math.min(skipped, chunk.byteLength));
        skipped -= chunk.byteLength - part.byteLength;
        if (part.byteLength === 0) continue;
        await write(part);
        bytes += part.byteLength;
        onProgress(bytes);
      }
    },
    { signal, ...(onRetry && { onRetry }) },
  );
  return bytes;
}

async function* readChunks(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Writes the content into a file, which has its name once it is complete. Returns its bytes. */
export async function downloadToFile(
  client: Client,
  url: string,
  path: string,
  options?: TransferOptions,
): Promise<number> {
  const partial = `${path}.part`;
  const file = createWriteStream(partial);
  // A full disk and a missing folder come as an event; the next write, or the end, throws it.
  const failed = new Promise<never>((_, reject) => file.once('error', reject));
  failed.catch(() => {});
  const finish = <T>(run: (done: (result: T) => void) => void): Promise<T> =>
    Promise.race([failed, new Promise<T>((resolve) => run(resolve))]);
  try {
    const bytes = await downloadContent(
      client,
      url,
      (chunk) => finish((done) => file.write(chunk, () => done(undefined))),
      options,
    );
    await finish<void>((done) => file.end(() => done()));
    await rename(partial, path);
    return bytes;
  } catch (error) {
    file.destroy();
    await rm(partial, { force: true });
    throw error;
  }
}

/**
 * Writes the content to standard output as fast as its reader accepts it: the same bytes to a file or a pipe, clean text to a
 * terminal. Returns its bytes.
 */
export async function downloadToOutput(
  client: Client,
  url: string,
  terminal: Pick<Terminal, 'out'>,
  options?: TransferOptions,
): Promise<number> {
  return downloadContent(client, url, createOutputWriter(terminal), options);
}

/** Writes a stream to standard output as `downloadToOutput` does. */
export async function writeToOutput(
  body: ReadableStream<Uint8Array>,
  terminal: Pick<Terminal, 'out'>,
): Promise<void> {
  const write = createOutputWriter(terminal);
  for await (const chunk of readChunks(body)) await write(chunk);
}

function createOutputWriter({ out }: Pick<Terminal, 'out'>): Write {
  const clean = out.isTTY === true ? createTextCleaner() : (chunk: Uint8Array) => chunk;
  return async (chunk) => {
    if (out.write(clean(chunk)) === false && out.once) {
      const { once } = out;
      await new Promise<void>((resolve) => once.call(out, 'drain', () => resolve()));
    }
  };
}
