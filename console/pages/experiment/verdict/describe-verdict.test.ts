/** The sentences of the verdicts. */
import type { ComparedView, IndicatorView } from '@switchyard/contract/views/experiment-view.ts';
import { describe, expect, test } from 'vitest';
import {
  type DescribedComparison,
  describeMoreUnits,
  describeVerdict,
  type Verdict,
} from './describe-verdict.ts';

const view = (changes: Partial<IndicatorView> = {}): IndicatorView => ({
  indicator: 'cost',
  role: 'primary',
  objective: 'minimize',
  verdict: 'better',
  interim: false,
  reasons: ['Because.'],
  warnings: [],
  effect: {
    measure: 'relative',
    value: -0.038,
    low: -0.046,
    high: -0.03,
    margin: { low: -0.0099, high: 0.01 },
  },
  control: 100,
  candidate: 96.2,
  pValue: 0.001,
  adjustedPValue: 0.001,
  tally: { wins: 21, ties: 2, losses: 1 },
  ...changes,
});
const compare = (candidate: string, ...indicators: IndicatorView[]): ComparedView => ({
  names: { control: 'old', candidate },
  indicators,
});
/** The sentences with plain spaces. */
const plain = (described: DescribedComparison): Verdict | null =>
  JSON.parse(JSON.stringify(describeVerdict(described)).replaceAll('\u00a0', ' '));
const name = (indicator: string) => indicator.charAt(0).toUpperCase() + indicator.slice(1);
const say = (
  release: 'yes' | 'no' | 'undecided',
  compared: readonly ComparedView[],
  { causes = ['cost'], isRunning = false }: { causes?: string[]; isRunning?: boolean } = {},
) =>
  plain({
    decision: {
      ...{ release, reason: 'The reason.' },
      because_of: compared.flatMap((one) =>
        causes.map((indicator) => ({ candidate: one.names.candidate, indicator })),
      ),
    },
    ...{ compared, isRunning, unit: 'input', nameIndicator: name },
  });

describe('of one candidate', () => {
  test('better has the change, its interval, the inputs and the other indicators', () => {
    const late = view({ indicator: 'late', role: 'guardrail', verdict: 'undecided' });
    expect(say('yes', [compare('new', view(), late)])).toEqual({
      kind: 'better',
      candidate: 'new',
      claim: 'new is better than old.',
      rest: 'Cost is 3.8 % lower, and the true change lies between −4.6 % and −3 %.',
      follows: ['Better on 21 of 24 inputs, equal on 2, worse on 1.', 'Late is undecided.'],
    });
  });

  test('worse names the guardrail that forbids it', () => {
    const late = view({ indicator: 'late', role: 'guardrail', verdict: 'worse' });
    expect(say('no', [compare('new', view(), late)], { causes: ['late'] })).toMatchObject({
      kind: 'worse',
      claim: 'new is worse than old in Late, which must not get worse.',
    });
  });

  test('equivalent says within which margin', () => {
    expect(say('undecided', [compare('new', view({ verdict: 'equivalent' }))])).toMatchObject({
      kind: 'equivalent',
      claim: 'new and old differ by less than 1 %.',
    });
  });

  test('not decided has its reasons, and says so far while it runs', () => {
    const described = say('undecided', [compare('new', view({ verdict: 'undecided' }))], { isRunning: true });
    expect(described).toMatchObject({ kind: 'open', claim: 'Not decided so far:' });
    expect(described?.rest).toMatch(/^Cost is 3\.8 % lower, but the true change lies between/);
    expect(described?.follows[0]).toBe('Because.');
  });
});

test('of several candidates the best is named first, and another that is better as well is not compared with it', () => {
  const fair = view({ effect: { ...view().effect, value: -0.01 } });
  const verdict = say('yes', [compare('fair', fair), compare('good', view())]);
  expect(verdict).toMatchObject({ candidate: 'good', claim: 'good has the best result of 2 candidates.' });
  expect(verdict?.follows[0]).toMatch(
    /^fair is better than old too: −1 % .* does not compare it with good\.$/,
  );
  expect(say('no', [compare('bad', view()), compare('poor', view())])).toMatchObject({
    kind: 'worse',
    claim: 'None of 2 candidates is better than old.',
  });
});

test('what would decide it comes before the other reasons, and is said only where it is known', () => {
  const reasons = ['The test says no.', 'About 12 more inputs would decide it in 80 % of experiments.'];
  expect(say('undecided', [compare('new', view({ verdict: 'undecided', reasons }))])?.follows).toEqual([
    reasons[1],
    'Better on 21 of 24 inputs, equal on 2, worse on 1.',
  ]);
  expect(describeMoreUnits({ more_units: null })).toEqual([]);
  expect(describeMoreUnits({ more_units: 28 })).toEqual(['About 28 more units would decide it.']);
});
