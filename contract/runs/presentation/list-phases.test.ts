import { expect, test } from 'vitest';
import { listPhases, measureTimes, type PhaseFacts } from './list-phases.ts';

const at = (ms: number) => new Date(ms).toISOString();
const NOW = 100_000;
const standard = { type: 'standard', definition_id: null, reference_id: null } as const;
const run = (facts: Partial<PhaseFacts>): PhaseFacts => ({
  status_v2: 'queued',
  created_at: at(90_000),
  execution_duration: 0,
  output_size: 64,
  run_type: standard,
  ...facts,
});

const lose = (from: number, until: number) => ({ initiated_at: at(from), finished_at: at(until) });

test.each<[string, PhaseFacts, (string | number | boolean)[][]]>([
  ['a queued run', run({}), [['Waiting', 10_000, true]]],
  [
    'a running run',
    run({ status_v2: 'running', initiated_at: at(92_000) }),
    [
      ['Waited', 2_000, false],
      ['Running', 8_000, true],
    ],
  ],
  [
    'an ended run',
    run({
      status_v2: 'succeeded',
      initiated_at: at(92_000),
      finished_at: at(95_500),
      execution_duration: 3_000,
    }),
    [
      ['Waited', 2_000, false],
      ['Ran', 3_000, false],
      ['Stored results', 500, false],
    ],
  ],
  [
    'a failed run without output, which has no results',
    run({
      status_v2: 'failed',
      initiated_at: at(92_000),
      finished_at: at(95_500),
      execution_duration: 3_000,
      output_size: 0,
    }),
    [
      ['Waited', 2_000, false],
      ['Ran', 3_000, false],
      ['Stored the log', 500, false],
    ],
  ],
  [
    'a run that was canceled in the queue',
    run({ status_v2: 'canceled', finished_at: at(91_000) }),
    [['Waited', 1_000, false]],
  ],
  [
    'W2: a run that waits after a lost attempt',
    run({ lost_attempts: [lose(91_000, 95_000)] }),
    [
      ['Waited', 1_000, false],
      ['Attempt 1, lost', 4_000, false],
      ['Waiting', 5_000, true],
    ],
  ],
  [
    'W2: a run that succeeded after two lost attempts',
    run({
      status_v2: 'succeeded',
      lost_attempts: [lose(91_000, 93_000), lose(93_500, 94_000)],
      initiated_at: at(96_000),
      finished_at: at(98_000),
      execution_duration: 1_900,
    }),
    [
      ['Waited', 1_000, false],
      ['Attempt 1, lost', 2_000, false],
      ['Waited', 500, false],
      ['Attempt 2, lost', 500, false],
      ['Waited', 2_000, false],
      ['Ran', 1_900, false],
      ['Stored results', 100, false],
    ],
  ],
  [
    'W2: a run that failed because every attempt was lost',
    run({
      status_v2: 'failed',
      lost_attempts: [lose(91_000, 93_000)],
      initiated_at: at(91_000),
      finished_at: at(93_000),
    }),
    [
      ['Waited', 1_000, false],
      ['Attempt 1, lost', 2_000, false],
    ],
  ],
  [
    'an execution that lasted longer than its instants say',
    run({
      status_v2: 'failed',
      initiated_at: at(92_000),
      finished_at: at(93_000),
      execution_duration: 1_001,
    }),
    [
      ['Waited', 2_000, false],
      ['Ran', 1_000, false],
    ],
  ],
  [
    'an ensemble',
    run({
      status_v2: 'succeeded',
      initiated_at: at(90_000),
      finished_at: at(94_000),
      run_type: { ...standard, type: 'ensemble' },
    }),
    [
      ['Waited', 0, false],
      ['Ran', 4_000, false],
    ],
  ],
  ['an external run', run({ status_v2: 'none', run_type: { ...standard, type: 'external' } }), []],
])('lists the phases of %s', (_, facts, phases) => {
  expect(listPhases(facts, NOW).map(({ name, duration, isCurrent }) => [name, duration, isCurrent])).toEqual(
    phases,
  );
});

test('W2: the run time is that of the last attempt, and lost attempts are no wait', () => {
  const ended = run({
    status_v2: 'succeeded',
    lost_attempts: [lose(91_000, 95_000)],
    initiated_at: at(96_000),
    finished_at: at(98_000),
    execution_duration: 1_900,
  });
  expect(measureTimes(ended, NOW)).toEqual({ ran: 1_900, waited: 2_000 });
  expect(measureTimes(run({}), NOW)).toEqual({ ran: null, waited: 10_000 });
});
