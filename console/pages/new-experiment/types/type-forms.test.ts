/** A form that starts an existing experiment again makes the same request. */
import { expect, test } from 'vitest';
import { createDraft } from '../draft.ts';
import { readRule } from './acceptance.ts';
import { nameNext, readComparison } from './draft-parts.ts';
import { buildRequest } from './type-forms.ts';

const DRAFT = createDraft({ instances: ['old', 'new'], inputSets: ['days'], versions: [], options: [] });

test.each([
  ['Cheaper', 'Cheaper 2'],
  ['Cheaper 9', 'Cheaper 10'],
  ['x'.repeat(48), `${'x'.repeat(46)} 2`],
])('the experiment after %s is %s', (name, next) => {
  expect(nameNext(name)).toBe(next);
});

test('objectives, primary indicator and guardrails survive the form', () => {
  const settings = {
    objectives: {
      'result.value': {
        direction: 'maximize' as const,
        measure: 'absolute' as const,
        margin: { type: 'relative' as const, value: 0.07 },
        shift: 10,
        tie_tolerance: 0.0005,
        largest_loss: 0.5,
        failure_margin: 0.025,
      },
      'result.custom.late': 'minimize' as const,
    },
    primary: 'result.value',
    guardrails: ['result.custom.late'],
  };
  const { body } = buildRequest('batch', { ...DRAFT, ...readComparison(settings) });
  expect(body).toMatchObject(settings);
});

test.each([
  {
    field: 'result.value',
    statistic: 'p99',
    metric_type: 'absolute-threshold' as const,
    params: { operator: 'lt' as const, tolerance: { type: 'absolute' as const, value: 250 } },
  },
  {
    field: 'result.value',
    statistic: 'mean',
    metric_type: 'direct-comparison' as const,
    hypothesis: 'non-inferiority' as const,
    accept_same: true,
    largest_loss: 0.25,
    params: { operator: 'le' as const, tolerance: { type: 'relative' as const, value: 0.07 } },
  },
])('a rule with %j survives the form', (metric) => {
  const { body } = buildRequest('acceptance', { ...DRAFT, rules: [readRule(metric)] });
  expect(body).toMatchObject({ metrics: [metric] });
});
