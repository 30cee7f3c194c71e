import { open } from 'node:fs/promises';
import type { ResultFile } from '@switchyard/runner';
import type { Mask } from '../log/mask.ts';

/** Reads and masks the end of a file. Reads the bytes before it too, where a secret may begin that reaches into the end. */
export async function readMaskedEnd(file: ResultFile, bytesMax: number, mask: Mask): Promise<Buffer> {
  const from = Math.max(0, file.bytes - bytesMax);
  const before = Math.min(from, mask.longestSecretBytes);
  const handle = await open(file.path, 'r');
  try {
    const bytes = Buffer.alloc(before + Math.min(file.bytes, bytesMax));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from - before);
    return mask.maskTail(bytes.subarray(0, bytesRead), before);
  } finally {
    await handle.close();
  }
}
