/** New callers are accepted before the server begins other work. */
import { expect, test } from 'vitest';
import { Accepts, type TurnShare } from './accepts.ts';

test.each<[string, (number | null)[], TurnShare[]]>([
  ['without a new connection', [null, null], ['usual', 'usual']],
  ['of a single caller', [0, null, 7, null], ['nothing', 'usual', 'nothing', 'usual']],
  [
    'of callers without an end',
    [0, 2, 4, 5, 6, 10, 11],
    ['nothing', 'nothing', 'nothing', 'one', 'nothing', 'nothing', 'one'],
  ],
  ['of slow turns', [0, 8, 16, 24], ['nothing', 'one', 'nothing', 'one']],
  ['after a turn without one', [0, 4, null, 8], ['nothing', 'nothing', 'usual', 'nothing']],
])('A10: turns %s begin what the time since the first allows', (_, acceptedAt, expected) => {
  let now = 0;
  const accepts = new Accepts(() => now);
  const [handshakes, requests] = [accepts.follow(), accepts.follow()];
  const shares = acceptedAt.map((at) => {
    if (at !== null) {
      now = at;
      accepts.add();
    }
    return [handshakes(), requests()];
  });
  expect(shares).toEqual(expected.map((share) => [share, share]));
});
