/** A form that starts an existing experiment again makes the same request. */
import { EXPERIMENT_TYPES } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { findMistake } from '@switchyard/contract/presentation/check-value.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { expect, test } from 'vitest';
import { createDraft } from '../draft.ts';
import { chooseControl, type DraftField, FIELDS } from '../fields.ts';
import { readRule } from './acceptance.ts';
import { readComparison } from './comparison.ts';
import { buildRequest, nameNext } from './type-forms.ts';

const DRAFT = {
  ...createDraft({ instances: ['old', 'new'], inputSets: ['days'], versions: [], options: [] }),
  candidates: ['new'],
};

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
  const { body } = buildRequest('batch', { ...DRAFT, ...readComparison('batch', settings) });
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

/** Returns the paths of the value that the schema does not declare. */
function listUndeclared(schema: object, value: unknown, path = ''): string[] {
  const properties: unknown = 'properties' in schema ? schema.properties : undefined;
  if (!isRecord(properties) || !isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const declared = properties[key];
    return isRecord(declared) ? listUndeclared(declared, inner, `${path}${key}.`) : [`${path}${key}`];
  });
}

const CHOICES = {
  ...{ instances: ['old', 'new'], versions: ['v2', 'v1'], slots: 1 },
  ...{ ensembles: [], inputSets: [], options: [], indicators: [], experiments: [], batches: [] },
};

function changeText(field: DraftField): string {
  const last = field.options?.(CHOICES).at(-1);
  if (last !== undefined) return typeof last === 'string' ? last : last.value;
  return chooseControl(field) === 'time' ? '2030-01-01T08:00' : '2';
}

test.each(EXPERIMENT_TYPES)(
  'a request of the type %s with every field changed is one of the contract',
  (type) => {
    const texts = Object.entries(FIELDS).map(([name, field]) => [name, changeText(field)]);
    const others = { name: 'All of it', usesRacing: true, confidence: '90', raceConfidence: '90' };
    const draft = { ...DRAFT, ...Object.fromEntries(texts), ...others };
    const { operation, body } = buildRequest(type, draft);
    const { schema } = operations[operation].body;
    expect(findMistake(schema, body)).toBeUndefined();
    expect(listUndeclared(schema, body)).toEqual([]);
  },
);
