/** Fields of numbers: a text that is none is refused beside its field, and never sent as null. */
import { createClient } from '@switchyard/contract/client.ts';
import { expect, test } from 'vitest';
import { findSecondsError, parseSeconds } from './parse-seconds.ts';

test.each([
  ['60', 60],
  [' 43200 ', 43_200],
])('F2: a maximum duration of %j is %i s', (text, seconds) => {
  expect(findSecondsError(text)).toBeNull();
  expect(parseSeconds(text)).toBe(seconds);
});

test.each(['5 min', '60 s', '0', '-1', '1.5', '1e3', '0x10', '43201', 'NaN', 'Infinity'])(
  'F2: a maximum duration of %j is refused beside its field',
  (text) => {
    expect(findSecondsError(text)).toContain(`"${text}" is no duration in seconds.`);
    expect(parseSeconds(text)).toBeNaN();
  },
);

test('F2: a request with a number that is none is not sent', async () => {
  let sent = 0;
  const fetch = async () => {
    sent += 1;
    return new Response('{}');
  };
  const client = createClient({ url: 'http://localhost', fetch });
  const configuration = { max_duration: Number('5 min') };
  await expect(
    client.call('createRun', { params: { application_id: 'app' }, body: { configuration } }),
  ).rejects.toThrow('max_duration is not a number');
  expect(sent).toBe(0);
});
