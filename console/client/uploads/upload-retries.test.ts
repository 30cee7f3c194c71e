/** Attempts of an upload after a failure, and the sentences about it. */
import { ApiError } from '@switchyard/contract/client.ts';
import { expect, test } from 'vitest';
import { ConnectionLostError } from './send-with-progress.ts';
import { describeRetry, explainFailure, findSizeError, isTransient, limitPauses } from './upload-retries.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const lost = new ConnectionLostError();
const respond = (status: number) => new ApiError('appendUpload', status, { error: 'A reason.' });

test('the pauses grow to 16 seconds, and end when the server has removed the parts', () => {
  let now = 0;
  const pauses: number[] = [];
  for (const pauseMs of limitPauses(() => now)) {
    pauses.push(pauseMs);
    now += pauseMs;
  }
  expect(pauses.slice(0, 7)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 16_000]);
  expect(now).toBeLessThan(DAY_MS);
  expect(now + 16_000).toBeGreaterThanOrEqual(DAY_MS);
});

test.each<[string, unknown, string]>([
  ['a lost connection', lost, 'Connection lost, trying again'],
  ['a server that restarts', respond(503), 'The server responded with 503, trying again: A reason.'],
  ['too many uploads', respond(429), 'The server responded with 429, trying again: A reason.'],
])('%s leads to another attempt', (_, error, message) => {
  expect(isTransient(error)).toBe(true);
  expect(describeRetry(error)).toBe(message);
});

test.each<[string, unknown, string]>([
  ['an expired URL', respond(403), 'Send the file again. The server says: A reason.'],
  ['a proxy with a small limit', respond(413), 'accept requests of 8 MB'],
  ['a refused part', respond(400), 'A reason.'],
  ['a canceled upload', new Error('Canceled.'), 'Canceled.'],
])('%s is the end', (_, error, words) => {
  expect(isTransient(error)).toBe(false);
  expect(explainFailure(error)).toMatchObject({ message: expect.stringContaining(words) });
});

test('a day without a connection is the end, because the upload has expired', () => {
  expect(explainFailure(lost)).toMatchObject({
    message: expect.stringContaining('not reached for 24 hours, so the upload has expired'),
  });
});

test('500 MiB are accepted, and one byte more is an error with both sizes', () => {
  expect(findSizeError(524_288_000)).toBeUndefined();
  expect(findSizeError(524_288_001)?.message).toBe(
    'The file has 500.000001\u00a0MiB, and an upload has at most 500\u00a0MiB. Send a smaller file.',
  );
});
