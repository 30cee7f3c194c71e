/** Decisions of gates and of the watch, as tables of cases. */
import { describe, expect, test } from 'vitest';
import type { ExperimentResult, IndicatorView } from '../../experiments/experiment-result.ts';
import type { GateEntry } from '../file-schema.ts';
import { computeFailureRatio, RATIO_LIMIT } from './failure-rate.ts';
import { decideGate, findGateId } from './gates.ts';

const buildView = (
  verdict: string,
  role: IndicatorView['role'] = 'primary',
  indicator = 'cost',
): IndicatorView => ({
  ...{ indicator, role, verdict, objective: 'minimize', interim: false, reasons: [], warnings: [] },
  effect: { measure: 'relative', value: 0.1, low: null, high: null, margin: null },
  ...{ control: 1, candidate: 1, pValue: null, adjustedPValue: null },
});
const buildResult = (
  indicators: IndicatorView[],
  more: Partial<ExperimentResult> = {},
): ExperimentResult => ({
  address: { application: 'a', type: 'batch', id: 'x' },
  ...{
    name: 'X',
    status: 'completed',
    headlines: ['A sentence.'],
    isPassed: null,
    warnings: [],
    unit: 'input',
  },
  compared: [{ names: { control: 'old', candidate: 'new' }, indicators }],
  body: {},
  ...more,
});

describe('a gate', () => {
  const batch: GateEntry = { type: 'batch' };
  const cases: { title: string; result: ExperimentResult; gate?: GateEntry; outcome: string }[] = [
    { title: 'better', result: buildResult([buildView('better')]), outcome: 'positive' },
    { title: 'equivalent', result: buildResult([buildView('equivalent')]), outcome: 'positive' },
    {
      title: 'equivalent where better is needed',
      result: buildResult([buildView('equivalent')]),
      gate: { ...batch, verdicts: ['better'] },
      outcome: 'undecided',
    },
    { title: 'worse', result: buildResult([buildView('worse')]), outcome: 'negative' },
    {
      title: 'better with a worse guardrail',
      result: buildResult([buildView('better'), buildView('worse', 'guardrail', 'late')]),
      outcome: 'negative',
    },
    {
      title: 'better with a worse indicator that only informs',
      result: buildResult([buildView('better'), buildView('worse', 'other', 'seconds')]),
      outcome: 'positive',
    },
    {
      title: 'one of two primary indicators undecided',
      result: buildResult([buildView('better'), buildView('undecided', 'primary', 'late')]),
      outcome: 'undecided',
    },
    { title: 'without indicators', result: buildResult([]), outcome: 'undecided' },
    {
      title: 'failed',
      result: buildResult([buildView('better')], { status: 'failed' }),
      outcome: 'negative',
    },
    { title: 'canceled', result: buildResult([], { status: 'canceled' }), outcome: 'negative' },
    {
      title: 'a passed acceptance test, whatever its comparison is',
      result: buildResult([buildView('worse')], { isPassed: true }),
      gate: { type: 'acceptance' },
      outcome: 'positive',
    },
    {
      title: 'an acceptance test that is not passed',
      result: buildResult([], { isPassed: false }),
      gate: { type: 'acceptance' },
      outcome: 'negative',
    },
  ];
  test.each(cases)('is $outcome: $title', ({ result, gate = batch, outcome }) => {
    expect(decideGate(result, gate).outcome).toBe(outcome);
  });

  test('has an id from instance, version and name, which differs for long names too', () => {
    const promotion = { application: 'a', instance: 'production', version: 'v2' };
    expect(findGateId(promotion, { type: 'batch' })).toBe('promote-production-v2-batch');
    const ids = ['x', 'y'].map((end) => findGateId(promotion, { type: 'batch', name: 'n'.repeat(63) + end }));
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => id.length === 64)).toBe(true);
  });
});

test.each([
  { before: [100, 0], after: [10, 0], isBack: false },
  { before: [100, 0], after: [2, 2], isBack: true },
  { before: [100, 0], after: [30, 1], isBack: false },
  { before: [0, 0], after: [2, 2], isBack: false },
  { before: [0, 0], after: [3, 3], isBack: true },
  { before: [200, 100], after: [20, 10], isBack: false },
  { before: [200, 100], after: [30, 30], isBack: true },
  { before: [200, 200], after: [1, 1], isBack: false },
])(
  'of $before runs and failures before and $after after the promotion, the ratio moves back: $isBack',
  ({ before: [runsBefore = 0, failedBefore = 0], after: [runs = 0, failed = 0], isBack }) => {
    const ratio = computeFailureRatio({ runs: runsBefore, failed: failedBefore }, { runs, failed });
    expect(ratio >= RATIO_LIMIT).toBe(isBack);
  },
);
