/** Parts of a stored log: together they are all lines, wherever chunks and requests end. */
import { Readable } from 'node:stream';
import { LOG_LINE_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { describe, expect, test } from 'vitest';
import { LOG_START, type LogPart, type LogPosition, readLines } from './read-lines.ts';

/** Content that arrives in chunks of the size. */
function createContent(text: string, chunkBytes: number) {
  const bytes = Buffer.from(text);
  const open = async (part?: { from: number; to: number } | null): Promise<Readable> => {
    const wanted = bytes.subarray(part?.from ?? 0, (part?.to ?? bytes.length) + 1);
    const chunks: Buffer[] = [];
    for (let at = 0; at < wanted.length; at += chunkBytes) chunks.push(wanted.subarray(at, at + chunkBytes));
    return Readable.from(chunks, { objectMode: false });
  };
  return { id: 'c', bytes: bytes.length, sha256: '', open };
}

/** Reads with as many calls as necessary, and returns each line with its number. */
async function readAll(text: string, chunkBytes: number, bytesMax: number): Promise<[number, string][]> {
  const content = createContent(text, chunkBytes);
  const lines: [number, string][] = [];
  const addLines = ({ text: part, start, end }: LogPart): void => {
    if (end.lines === start.lines) return;
    for (const [index, line] of part.split('\n').entries()) lines.push([start.lines + index + 1, line]);
  };
  let position: LogPosition = LOG_START;
  while (position.offset < content.bytes) {
    const before = position.offset;
    for await (const part of readLines(content, position, bytesMax)) {
      addLines(part);
      position = part.end;
    }
    expect(position.offset).toBeGreaterThan(before);
  }
  return lines;
}

const number = (lines: string[]): [number, string][] => lines.map((line, index) => [index + 1, line]);

describe('the lines of a log', () => {
  const lines = ['', 'one', 'zwei ä', '', 'last'];
  test.each([
    ['with a final line break', `${lines.join('\n')}\n`],
    ['without one', lines.join('\n')],
  ])('%s', async (_, text) => {
    for (const [chunkBytes, bytesMax] of [
      [100, 1_000],
      [1, 1_000],
      [3, 12],
      [100, 9],
    ] as const)
      expect(await readAll(text, chunkBytes, bytesMax)).toEqual(number(lines));
  });

  test('end with the first part of a line that is too long', async () => {
    const long = 'x'.repeat(3 * LOG_LINE_BYTES_MAX);
    for (const bytesMax of [10 * LOG_LINE_BYTES_MAX, 2 * LOG_LINE_BYTES_MAX]) {
      const read = await readAll(`first\n${long}\nlast`, 1024, bytesMax);
      expect(read.map(([line]) => line)).toEqual([1, 2, 3]);
      expect(read[1]?.[1].length).toBeGreaterThan(LOG_LINE_BYTES_MAX);
      expect(read[1]?.[1].length).toBeLessThan(2 * LOG_LINE_BYTES_MAX);
      expect([read[0]?.[1], read[2]?.[1]]).toEqual(['first', 'last']);
    }
  });

  test('are none of an empty log', async () => {
    expect(await readAll('', 10, 10)).toEqual([]);
  });
});
