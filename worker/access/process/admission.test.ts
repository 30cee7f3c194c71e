/** The bounds of the requests of one run, without a connection. */
import { expect, test } from 'vitest';
import { Admission, type AdmissionLimits } from './admission.ts';

const LIMITS: AdmissionLimits = {
  ...{ activeMax: () => 2, waitingMax: 3, waitMsMax: 60_000, perSecond: 1000, burst: 100 },
};
const never = (): void => {};

/** Returns what has become of the requests so far. */
async function readStates(requests: Promise<boolean>[]): Promise<(boolean | 'waits')[]> {
  await Promise.resolve();
  return Promise.all(requests.map((one) => Promise.race([one, Promise.resolve('waits' as const)])));
}

test('A7: as many requests as the bounds allow go on and wait, in their order; further ones are refused', async () => {
  const admission = new Admission(LIMITS, () => 0);
  const requests = Array.from({ length: 7 }, () => admission.enter(never));
  expect(await readStates(requests)).toEqual([true, true, 'waits', 'waits', 'waits', false, false]);
  admission.leave();
  expect(await readStates(requests)).toEqual([true, true, true, 'waits', 'waits', false, false]);
  admission.close();
  expect(await readStates(requests)).toEqual([true, true, true, false, false, false, false]);
});

test('A7: requests beyond the burst wait for the rate, and no longer than the maximum', async () => {
  let now = 0;
  const limits = { ...LIMITS, activeMax: () => 100, burst: 2, perSecond: 100 };
  const admission = new Admission(limits, () => now);
  const requests = Array.from({ length: 4 }, () => admission.enter(never));
  expect(await readStates(requests)).toEqual([true, true, 'waits', 'waits']);
  now = 10;
  expect(await requests[2]).toBe(true);
  expect(await readStates(requests)).toEqual([true, true, true, 'waits']);
  const shortWait = new Admission({ ...limits, burst: 0, waitMsMax: 1 }, () => 0);
  expect(await shortWait.enter(never)).toBe(false);
  admission.close();
});

test('A7: a caller that has gone waits no longer', async () => {
  const admission = new Admission({ ...LIMITS, activeMax: () => 0 }, () => 0);
  let leave = never;
  const gone = admission.enter((callback) => {
    leave = callback;
  });
  const others = [admission.enter(never), admission.enter(never)];
  leave();
  expect(await gone).toBe(false);
  expect(await readStates([...others, admission.enter(never)])).toEqual(['waits', 'waits', 'waits']);
  admission.close();
});
