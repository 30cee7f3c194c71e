/** Decisions about a release, as tables of cases. */
import { describe, expect, test } from 'vitest';
import type { ComparedGroups } from '../experiment-results.ts';
import {
  type DecidingComparison,
  decideGroups,
  decideRules,
  decideSides,
  formatDecision,
} from './decide-release.ts';

const NAMES = { control: 'old', candidate: 'new' };

function compare(verdict: string, changes: Partial<DecidingComparison> = {}): DecidingComparison {
  const value = { better: 0.9, worse: 1.32 }[verdict] ?? 1;
  return {
    ...{ indicator: 'cost', role: 'primary', objective: 'minimize', interim: false },
    verdict: verdict as DecidingComparison['verdict'],
    ...{ reasons: ['The interval includes 0.'], measure: 'relative', mean_difference: null },
    geometric_mean_ratio: { value, interval: { low: value - 0.01, high: value + 0.01 } },
    tolerance: { type: 'relative', value: 0.01 },
    control: { mean: 100 },
    ...changes,
  };
}
const guard = (verdict: string, indicator = 'late') => compare(verdict, { indicator, role: 'guardrail' });
const inform = (verdict: string) => compare(verdict, { indicator: 'seconds', role: 'other' });

describe('T12: one decision from the verdicts', () => {
  const cases: [string, DecidingComparison[], string, string[], RegExp][] = [
    ['better', [compare('better')], 'yes', ['cost'], /^new is better than old in cost: −10\s% /],
    [
      'better with a guardrail 32 % worse',
      [compare('better'), guard('worse')],
      'no',
      ['late'],
      /^new is worse than old in late: \+32\s% .* late is a guardrail, which must not get worse\. new is better/,
    ],
    [
      'better by the failures of the control alone',
      [
        compare('better', {
          ...{ reasons: ['The failures differ.'] },
          geometric_mean_ratio: { value: 1, interval: { low: 0.99, high: 1.01 } },
        }),
      ],
      'yes',
      ['cost'],
      /^new is better than old in cost: 0\s% .* The failures differ\.$/,
    ],
    ['worse', [compare('worse'), guard('better')], 'no', ['cost'], /^new is worse than old in cost/],
    [
      'equivalent',
      [compare('equivalent')],
      'undecided',
      ['cost'],
      /Only a gate whose `verdicts` accept `equivalent`/,
    ],
    ['a verdict that is no proof', [compare('same')], 'undecided', ['cost'], /accept `same`/],
    [
      'undecided',
      [compare('undecided')],
      'undecided',
      ['cost'],
      / in cost: 0\s% .* The interval includes 0\.$/,
    ],
    [
      'one primary indicator better and one equivalent',
      [compare('better'), compare('equivalent', { indicator: 'late' })],
      'yes',
      ['cost', 'late'],
      /equivalent in late/,
    ],
    [
      'one of two primary indicators undecided',
      [compare('better'), compare('undecided', { indicator: 'late' })],
      'undecided',
      ['late'],
      /do not decide between new and old in late/,
    ],
    [
      'a guardrail undecided',
      [compare('better'), guard('undecided'), guard('equivalent', 'stops')],
      'yes',
      ['cost'],
      /No guardrail is known to be worse; undecided: late\.$/,
    ],
    [
      'guardrails that hold',
      [compare('better'), guard('equivalent')],
      'yes',
      ['cost'],
      /No guardrail is worse\.$/,
    ],
    ['an indicator that informs is worse', [compare('better'), inform('worse')], 'yes', ['cost'], /better/],
    ['before the end', [compare('better', { interim: true })], 'yes', ['cost'], /was not at its planned end/],
    [
      'no direction',
      [compare('lower', { role: 'other', objective: 'none' })],
      'undecided',
      ['cost'],
      /cost has no direction in `objectives`/,
    ],
    ['no primary indicator reported', [inform('better')], 'undecided', [], /^No indicator of new and old/],
    ['nothing reported', [], 'undecided', [], /^No indicator of new and old can be compared\.$/],
  ];
  test.each(cases)('%s', (...[, indicators, release, names, reason]) => {
    const decision = decideSides({ names: NAMES, indicators });
    expect(decision).toMatchObject({ release, reason: expect.stringMatching(reason) });
    expect(decision.because_of.map(({ indicator }) => indicator)).toEqual(names);
  });

  test('a guardrail that no run reported leaves it undecided, unless another indicator is worse', () => {
    const missing = [{ indicator: 'late', role: 'guardrail' as const }];
    const decide = (verdict: string) =>
      decideSides({ names: NAMES, indicators: [compare(verdict)] }, missing);
    expect(decide('worse').release).toBe('no');
    expect(decide('better')).toEqual({
      release: 'undecided',
      reason: 'No run of new or old reported late, a guardrail.',
      because_of: [{ candidate: 'new', indicator: 'late', role: 'guardrail' }],
    });
  });
});

describe('T12: several candidates', () => {
  const group = (instance_id: string, verdict: string, status?: string): ComparedGroups =>
    JSON.parse(
      JSON.stringify({
        control: { instance_id: 'old', version_id: '' },
        candidate: { instance_id, version_id: '' },
        indicators: [compare(verdict)],
        racing: status && { status },
      }),
    );
  const decide = (...compared: ComparedGroups[]) => decideGroups(compared, () => []);

  test.each([
    [['worse', 'better', 'undecided'], 'yes', ['c1']],
    [['worse', 'undecided', 'undecided'], 'undecided', ['c1', 'c2']],
    [['worse', 'worse'], 'no', ['c0', 'c1']],
  ])('%s is %s', (verdicts, release, names) => {
    const decision = decide(...verdicts.map((verdict, index) => group(`c${index}`, verdict)));
    expect(decision?.release).toBe(release);
    expect(decision?.because_of.map(({ candidate }) => candidate)).toEqual(names);
  });

  test('a candidate that a race dropped does not count, and a text names five candidates', () => {
    expect(decide(group('a', 'better', 'dropped'), group('b', 'worse', 'racing'))?.release).toBe('no');
    const many = decide(...Array.from({ length: 12 }, (_, index) => group(`c${index}`, 'worse')));
    expect(many?.because_of).toHaveLength(5);
    expect(many?.reason).toMatch(/The same holds for 7 more candidates\.$/);
    expect(decide()).toBeUndefined();
  });
});

test('a decision that only equivalence holds back is not called undecided', () => {
  const read = (...verdicts: string[]) =>
    formatDecision(
      decideSides({
        names: NAMES,
        indicators: verdicts.map((one, index) => compare(one, { indicator: `i${index}` })),
      }),
    );
  expect(read('equivalent')).toMatch(/^Equivalent: new and old are equivalent in i0/);
  expect(read('equivalent', 'same')).toMatch(/^Equivalent: /);
  expect(read('equivalent', 'undecided')).toMatch(/^Undecided: /);
  expect(read('better')).toMatch(/^Release: /);
});

describe('T12: the rules of an acceptance test', () => {
  const rule = (passed: boolean, warnings: string[] = [], counts = [3, 3]) => {
    const [control, candidate] = counts.map((count) => ({ distribution_summary_statistics: { count } }));
    const value = counts.includes(0) ? null : 1;
    return {
      metric: {
        ...{ field: 'cost', statistic: 'mean', metric_type: 'direct-comparison' as const },
        params: { operator: 'le' as const },
      },
      ...{ passed, warnings, control_value: value, candidate_value: value },
      statistics: { control, candidate },
    };
  };
  const decide = (
    rules: (ReturnType<typeof rule> & { tied?: boolean })[],
    error?: string,
    rules_before_results = true,
  ) =>
    decideRules({
      rules_before_results,
      candidate: { instance_id: 'new', version_id: '' },
      results: {
        ...{ passed: rules.every(({ passed }) => passed), method: 'x', ...(error && { error }) },
        metric_results: rules,
      } as never,
    });

  test.each([
    [[rule(true), rule(true)], 'Release: new meets 2 of 2 rules.', [0, 1]],
    [
      [rule(true, ['A doubt.'])],
      'Release: new meets 1 of 1 rule. This holds for these inputs; see the warnings of the rules.',
      [0],
    ],
    [
      [rule(true), rule(false)],
      'Do not release: new meets 1 of 2 rules. Not met: mean of cost: candidate ≤ control.',
      [1],
    ],
  ])('case %#', (rules, text, positions) => {
    const decision = decide(rules);
    expect(decision && formatDecision(decision)).toBe(text);
    expect(decision?.because_of.map((cause) => cause.rule)).toEqual(positions);
  });

  const TIED =
    'Inputs tie, and others may not: mean of cost: candidate ≤ control. Add inputs, or `accept_same: true` to the rule.';
  const tie = (passed: boolean) => ({ ...rule(passed), tied: true });
  const unreported = rule(false, [], [0, 0]);

  test.each([
    ['few inputs tie', [rule(true), tie(true)], `${TIED} new meets 2 of 2 rules.`, [1]],
    ['ten inputs tie', [rule(true), tie(false)], `${TIED} new meets 1 of 2 rules.`, [1]],
    ['no run reported it', [unreported, rule(true)], 'No run reported cost. new meets 1 of 2 rules.', [0]],
    ['both', [tie(true), unreported], `No run reported cost. ${TIED} new meets 1 of 2 rules.`, [1, 0]],
  ])(
    'T1: where %s, the test is undecided, and the other rules are not named',
    (_, rules, reason, positions) => {
      const because_of = positions.map((position) => ({
        candidate: 'new',
        indicator: 'cost',
        rule: position,
      }));
      expect(decide(rules)).toEqual({ release: 'undecided', reason, because_of });
      expect(decide([...rules, rule(false)])?.release).toBe('no');
    },
  );

  test('a candidate alone without a number is not released', () => {
    expect(decide([rule(false, [], [3, 0])])?.release).toBe('no');
  });

  test.each([
    [true, ''],
    [false, ' The rules came after a result, so somebody may have fitted them to it.'],
  ])('rules_before_results: %s', (rules_before_results, doubt) => {
    expect(decide([rule(true)], undefined, rules_before_results)?.reason).toBe(
      `new meets 1 of 1 rule.${doubt}`,
    );
    expect(decide([rule(false)], undefined, rules_before_results)?.reason).not.toContain('fitted');
  });

  test('a test without a successful run is undecided', () => {
    expect(decide([rule(false)], 'No run succeeded.')).toEqual({
      ...{ release: 'undecided', reason: 'No run succeeded.', because_of: [] },
    });
  });
});
