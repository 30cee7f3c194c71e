import { expect, test } from 'vitest';
import { listPhases, type PhaseFacts } from './list-phases.ts';

const at = (ms: number) => new Date(ms).toISOString();
const NOW = 100_000;
const standard = { type: 'standard', definition_id: null, reference_id: null } as const;
const run = (facts: Partial<PhaseFacts>): PhaseFacts => ({
  status_v2: 'queued',
  created_at: at(90_000),
  execution_duration: 0,
  run_type: standard,
  ...facts,
});

test.each<[string, PhaseFacts, (string | number | boolean)[][]]>([
  ['a queued run', run({}), [['Queued', 10_000, true]]],
  [
    'a running run',
    run({ status_v2: 'running', initiated_at: at(92_000) }),
    [
      ['Queued', 2_000, false],
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
      ['Queued', 2_000, false],
      ['Running', 3_000, false],
      ['Storing', 500, false],
    ],
  ],
  [
    'a run that was canceled in the queue',
    run({ status_v2: 'canceled', finished_at: at(91_000) }),
    [['Queued', 1_000, false]],
  ],
  ['a requeued run', run({ initiated_at: at(92_000) }), [['Queued', 10_000, true]]],
  [
    'an execution that lasted longer than its instants say',
    run({
      status_v2: 'failed',
      initiated_at: at(92_000),
      finished_at: at(93_000),
      execution_duration: 1_001,
    }),
    [
      ['Queued', 2_000, false],
      ['Running', 1_000, false],
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
      ['Queued', 0, false],
      ['Running', 4_000, false],
    ],
  ],
  ['an external run', run({ status_v2: 'none', run_type: { ...standard, type: 'external' } }), []],
])('lists the phases of %s', (_, facts, phases) => {
  expect(listPhases(facts, NOW).map(({ name, duration, isCurrent }) => [name, duration, isCurrent])).toEqual(
    phases,
  );
});
