/** Reading of large JSON in a thread. */
import { expect, test } from 'vitest';
import { NO_MASK } from '../log/mask.ts';
import { JsonReader } from './json-reader.ts';

test('the reader loads a large file only when its turn has come', async () => {
  const reader = new JsonReader();
  const content = Buffer.from(JSON.stringify({ metrics: { cost: 7 }, fill: 'x'.repeat(1024 * 1024) }));
  let loaded = 0;
  let loadedMax = 0;
  const reads = Array.from({ length: 8 }, () => {
    const load = async () => {
      loaded += 1;
      loadedMax = Math.max(loadedMax, loaded);
      return Buffer.from(content);
    };
    return reader
      .read({ bytes: content.length, load }, { kind: 'output', subject: null }, NO_MASK)
      .finally(() => {
        loaded -= 1;
      });
  });
  for (const parsed of await Promise.all(reads))
    expect(parsed).toMatchObject({ metrics: { block: '{"cost":7}' } });
  // The reader may load the next file before the caller of the one before is notified.
  expect(loadedMax).toBeLessThanOrEqual(2);
});

const padStatistics = (bytes: number): string => `{"schema":"v1",${' '.repeat(bytes)}"result":{"value":1}}`;
const read = (kind: 'output' | 'statistics' | 'metrics', text: string) => {
  const content = Buffer.from(text);
  const file = { bytes: content.length, load: async () => Buffer.from(content) };
  return new JsonReader().read(file, { kind, subject: null }, NO_MASK);
};
const MIB = 1024 * 1024;

test.each(['output', 'statistics'] as const)(
  'the reader rejects large statistics in a file of %s without parsing them',
  async (kind) => {
    const fill = `"fill":"${'x'.repeat(MIB)}"`;
    const accepted = await read(kind, `{${fill},"statistics":${padStatistics(1000)}}`);
    expect(accepted.statistics).toMatchObject({ status: 'success', indicators: [{ value: 1 }] });
    const oversized = padStatistics(MIB);
    const rejected = await read(kind, `{"statistics":${oversized}}`);
    expect(rejected).toMatchObject({
      error: '',
      isPresent: true,
      statistics: { status: 'error', block: null },
    });
    expect(rejected.statistics.error).toContain(`${oversized.length} bytes`);
  },
);

test('the reader returns small metrics of a large file, with and without the key', async () => {
  const space = ' '.repeat(2 * MIB);
  expect(await read('metrics', `{${space}"cost":7}`)).toMatchObject({ metrics: { block: '{"cost":7}' } });
  expect(await read('metrics', `{"metrics":{"cost":7}${space.repeat(5)}}`)).toMatchObject({
    metrics: { block: '{"cost":7}' },
  });
  expect(await read('metrics', `{"cost":"${'x'.repeat(9 * MIB)}"}`)).toMatchObject({
    error: '',
    metrics: { block: null },
  });
  expect((await read('metrics', `{"cost":"${'x'.repeat(9 * MIB)}"`)).error).toContain('not JSON');
});

test.each([
  ['small', ''],
  ['large', ' '.repeat(2 * MIB)],
])(
  'W5: the reader refuses a %s output in another encoding, and accepts a byte order mark',
  async (_, space) => {
    const reader = new JsonReader();
    const readBytes = (bytes: Buffer) =>
      reader.read(
        { bytes: bytes.length, load: async () => Buffer.from(bytes) },
        { kind: 'output', subject: null },
        NO_MASK,
      );
    const text = `{"metrics":{"straße":7}${space}}`;
    expect((await readBytes(Buffer.from(text, 'latin1'))).error).toBe(
      'The app printed text to stdout that is not UTF-8 (byte 17 is 0xDF; it looks like Latin-1 or Windows-1252); print UTF-8, in Python with PYTHONIOENCODING=utf-8.',
    );
    expect((await readBytes(Buffer.from(text, 'utf16le'))).error).toContain('it looks like UTF-16 LE');
    expect(await readBytes(Buffer.from(`\uFEFF${text}`))).toMatchObject({
      error: '',
      isPresent: true,
      metrics: { block: '{"straße":7}' },
    });
  },
);
