/** The past runs whose durations stand for those of a run. */
import type { AccountId, ExecutableId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { expect, test } from 'vitest';
import { PastDurations, type PastRun, type RunOrigin } from './past-durations.ts';

const SMALL = '6c9500mb870s';
const LARGE = '16c60gb12h';

const buildOrigin = (fields: Partial<RunOrigin> = {}): RunOrigin => ({
  account_id: 'own' as AccountId,
  application_uid: 'app',
  instance_id: 'i1',
  executable_id: 'executable' as ExecutableId,
  execution_class: SMALL,
  ...fields,
});

let rows = 0;
/** Returns past runs that occupied their slots for `seconds`, the latest first. */
function buildPast(count: number, seconds: number, fields: Partial<PastRun> = {}): PastRun[] {
  return Array.from({ length: count }, (_, index) => {
    const initiated_at = 1_000_000 - index * 1000;
    rows += 1;
    return {
      ...buildOrigin(),
      id: `run-${rows}` as RunId,
      run_type: 'standard',
      initiated_at,
      slot_released_at: null,
      finished_at: initiated_at + seconds * 1000,
      ...fields,
    };
  });
}

const other = { account_id: 'other' as AccountId, application_uid: 'app of another' };

test.each<[string, PastRun[], number | null]>([
  ['its instance', [...buildPast(9, 1), ...buildPast(60, 2, { instance_id: 'i2' })], 1],
  [
    'its application if its instance has too few',
    [...buildPast(8, 1), ...buildPast(60, 2, { instance_id: 'i2' })],
    2,
  ],
  [
    'its class in its account if its application has too few',
    buildPast(60, 3, { application_uid: 'app-2' }),
    3,
  ],
  ['its class on the server if its account has too few', buildPast(60, 4, other), 4],
  [
    'none if its class has too few',
    [...buildPast(60, 5, { execution_class: LARGE }), ...buildPast(8, 1)],
    null,
  ],
])('the durations are of %s', (_, past, seconds) => {
  const found = new PastDurations(past).find(buildOrigin());
  expect(found?.at(-1) ?? null).toBe(seconds === null ? null : seconds * 1000);
});

test('only the latest 50 runs count, each once', () => {
  const past = buildPast(60, 1).map((run, index) => (index < 50 ? run : { ...run, finished_at: 1 }));
  expect(new PastDurations([...past, ...past]).find(buildOrigin())).toEqual(
    Array.from({ length: 50 }, () => 1000),
  );
});

test('a duration is the time in the slot', () => {
  const past = [
    ...buildPast(9, 10, { slot_released_at: 1_000_000 }).map((run) => ({ ...run, initiated_at: 998_000 })),
    // Executed elsewhere, and canceled in the queue.
    ...buildPast(9, 10, { run_type: 'external' }),
    ...buildPast(9, 10, { initiated_at: null }),
  ];
  expect(new PastDurations(past).find(buildOrigin())).toEqual(Array.from({ length: 9 }, () => 2000));
});
