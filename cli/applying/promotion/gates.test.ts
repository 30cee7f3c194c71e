/** Decisions of gates, as tables of cases. */
import type { Decision } from '@switchyard/contract/experiments/comparisons/decisions.ts';
import type { ExperimentView } from '@switchyard/contract/views/experiment-view.ts';
import { describe, expect, test } from 'vitest';
import type { GateEntry } from '../file-schema.ts';
import { decideGate, findGateId } from './gates.ts';

const buildDecision = (release: Decision['release'], ...verdicts: string[]): Decision => ({
  ...{ release, reason: 'A sentence.' },
  because_of: verdicts.map((verdict) => ({ indicator: 'cost', verdict })),
});
const buildResult = (decision?: Decision, more: Partial<ExperimentView> = {}): ExperimentView => ({
  address: { application: 'a', type: 'batch', id: 'x' },
  ...{ name: 'X', status: 'completed', headlines: ['A headline.'], isPassed: null, warnings: [] },
  ...{ unit: 'input', compared: [], body: {}, ...more },
  ...(decision && { decision }),
});

describe('T12: a gate', () => {
  const batch: GateEntry = { type: 'batch' };
  const acceptance: GateEntry = { type: 'acceptance' };
  const cases: { title: string; result: ExperimentView; gate?: GateEntry; outcome: string }[] = [
    { title: 'yes', result: buildResult(buildDecision('yes', 'better')), outcome: 'positive' },
    {
      title: 'undecided because of an equivalent indicator',
      result: buildResult(buildDecision('undecided', 'equivalent')),
      outcome: 'positive',
    },
    {
      title: 'equivalent where better is needed',
      result: buildResult(buildDecision('yes', 'better', 'equivalent')),
      gate: { ...batch, verdicts: ['better'] },
      outcome: 'undecided',
    },
    {
      title: 'a verdict that the gate does not accept',
      result: buildResult(buildDecision('undecided', 'same')),
      outcome: 'undecided',
    },
    {
      title: 'T1: a tie that the gate accepts',
      result: buildResult(buildDecision('undecided', 'better', 'same')),
      gate: { ...batch, verdicts: ['better', 'same'] },
      outcome: 'positive',
    },
    {
      title: 'a direction that the gate accepts',
      result: buildResult(buildDecision('undecided', 'lower')),
      gate: { ...batch, verdicts: ['lower'] },
      outcome: 'positive',
    },
    { title: 'no', result: buildResult(buildDecision('no', 'worse')), outcome: 'negative' },
    {
      title: 'one of two indicators undecided',
      result: buildResult(buildDecision('undecided', 'equivalent', 'undecided')),
      outcome: 'undecided',
    },
    {
      title: 'an indicator that no run reported',
      result: buildResult({ ...buildDecision('undecided'), because_of: [{ indicator: 'late' }] }),
      outcome: 'undecided',
    },
    {
      title: 'undecided for no indicator',
      result: buildResult(buildDecision('undecided')),
      outcome: 'undecided',
    },
    { title: 'without a decision', result: buildResult(), outcome: 'undecided' },
    {
      title: 'failed',
      result: buildResult(buildDecision('yes', 'better'), { status: 'failed' }),
      outcome: 'negative',
    },
    { title: 'canceled', result: buildResult(undefined, { status: 'canceled' }), outcome: 'negative' },
    {
      title: 'a passed acceptance test',
      result: buildResult(buildDecision('yes')),
      gate: acceptance,
      outcome: 'positive',
    },
    {
      title: 'an acceptance test that is not passed',
      result: buildResult(buildDecision('no')),
      gate: acceptance,
      outcome: 'negative',
    },
    {
      title: 'an acceptance test without a decision by its rules',
      result: buildResult(buildDecision('undecided')),
      gate: acceptance,
      outcome: 'undecided',
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
