/** The sentences of the verdicts. */
import type { InputPair } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { ratePair } from '@switchyard/contract/experiments/presentation/rate-pairs.ts';
import type { ComparedView, IndicatorView } from '@switchyard/contract/views/experiment-view.ts';
import { describe, expect, test } from 'vitest';
import { type DescribedComparison, describeVerdict, explainOpen, type Verdict } from './describe-verdict.ts';

const pair = (change: number | null, failed: InputPair['failed'] = null): InputPair => ({
  ...{ input: 'in', control: 100, candidate: 100, change, failed },
  runs: { control: 'a', candidate: 'b' },
});
/** 21 inputs are better, two within the margin of 1 %, and one is worse. */
const PAIRS = [...Array.from({ length: 21 }, () => pair(-0.04)), pair(0), pair(0.009), pair(0.02)];

const TALLY = { total: 24, usable: 24, wins: 21, ties: 1, losses: 2, failed: 0 };

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
  tally: TALLY,
  listPairs: () => PAIRS,
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
      word: 'better',
      candidate: 'new',
      indicator: 'cost',
      claim: 'new is better than old.',
      rest: 'Cost is 3.8 % lower, and the true change lies between −4.6 % and −3 %.',
      follows: ['Better on 21 of 24 inputs, within ±1 % on 2, worse on 1.', 'Late is undecided.'],
    });
  });

  test('a very narrow interval is one number, with at most four digits', () => {
    const effect = { ...view().effect, value: -0.1, low: -0.100002, high: -0.099998 };
    expect(say('yes', [compare('new', view({ effect }))])?.rest).toBe('Cost is 10 % lower.');
  });

  test('a change without an interval says only its size', () => {
    const effect = { ...view().effect, low: null, high: null };
    expect(say('yes', [compare('new', view({ effect }))])?.rest).toBe('Cost is 3.8 % lower.');
  });

  test('worse names the guardrail that forbids it', () => {
    const late = view({ indicator: 'late', role: 'guardrail', verdict: 'worse' });
    expect(say('no', [compare('new', view(), late)], { causes: ['late'] })).toMatchObject({
      kind: 'worse',
      // Picture and evidence show this indicator, not the primary one, which is better.
      indicator: 'late',
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

test('a sentence counts inputs by the margin, as the bars are coloured', () => {
  const ratings = PAIRS.map((one) => ratePair(one, view()));
  expect(ratings.filter((one) => one === 'better')).toHaveLength(21);
  expect(ratings.slice(-3)).toEqual(['within', 'within', 'worse']);
  const count = (changes: Partial<IndicatorView>) => say('yes', [compare('new', view(changes))])?.follows[0];
  const failing = [pair(0.005), pair(null, 'candidate'), pair(null, 'control')];
  expect(count({ listPairs: () => failing, tally: { ...TALLY, total: 6, usable: 3, failed: 2 } })).toBe(
    [
      'Better on 1 of 3 inputs, within ±1 % on 1, worse on 1.',
      '3 of 6 inputs are left out: neither side has a number on 2, 1 did not end on both sides.',
    ].join(' '),
  );
  const exact = { ...view().effect, margin: { low: 0, high: 0 } };
  expect(count({ effect: exact, listPairs: () => [pair(-0.01), pair(0)] })).toBe(
    'Better on 1 of the newest 2 inputs, equal on 1, worse on 0. The experiment compares 24.',
  );
});

test('an interval beside 0 that decides nothing says why: the corrected p-value', () => {
  const reasons = ['The corrected test decides: an adjusted p-value of 0.07, above 0.04.'];
  const open = view({ verdict: 'undecided', reasons, pValue: 0.01, adjustedPValue: 0.07 });
  expect(explainOpen(open)).toEqual({
    short: 'p 0.01, corrected 0.07',
    text: reasons[0],
  });
  expect(explainOpen(view())).toBeUndefined();
  expect(explainOpen({ ...open, effect: { ...open.effect, high: 0.01 } })).toBeUndefined();
});

test('of several candidates the best is named first, and another that is better as well is not compared with it', () => {
  const fair = view({ effect: { ...view().effect, value: -0.01 } });
  const verdict = say('yes', [compare('fair', fair), compare('good', view())]);
  expect(verdict).toMatchObject({
    word: 'best',
    candidate: 'good',
    claim: 'good has the best result of 2 candidates.',
  });
  expect(verdict?.follows[0]).toMatch(
    /^fair is better than old too: −1 % .* does not compare it with good\.$/,
  );
  expect(say('no', [compare('bad', view()), compare('poor', view())])).toMatchObject({
    kind: 'worse',
    word: 'none better',
    claim: 'None of 2 candidates is better than old.',
  });
});

test('of several candidates that are all equivalent or equal, none is undecided', () => {
  const equal = view({ verdict: 'equivalent' });
  const same = view({ verdict: 'same' });
  const read = (...verdicts: IndicatorView[]) =>
    say(
      'undecided',
      verdicts.map((one, index) => compare(`c${index}`, one)),
    );
  expect(read(equal, same)).toMatchObject({
    ...{ kind: 'equivalent', word: 'equivalent', rest: '' },
    claim: 'Both candidates differ from old by less than 1 %.',
  });
  expect(read(same, same, same)?.claim).toBe('All 3 candidates are equal on all inputs.');
  expect(read(equal, view({ verdict: 'undecided' }), equal)).toMatchObject({
    ...{ kind: 'open', claim: 'Not decided:', rest: 'none of 3 candidates is shown to be better than old.' },
    follows: ['2 equivalent, 1 undecided.', 'Because.'],
  });
});

test('what would decide it comes before the other reasons, and is said only where it is known', () => {
  const reasons = ['The test says no.', 'About 12 more inputs would decide it in 80 % of experiments.'];
  expect(say('undecided', [compare('new', view({ verdict: 'undecided', reasons }))])?.follows).toEqual([
    reasons[1],
    'Better on 21 of 24 inputs, within ±1 % on 2, worse on 1.',
  ]);
});
