/** Requests of the form of a new experiment. */
import { expect, test } from 'vitest';
import { buildRequest, createDraft, suggestId } from './draft.ts';

const DRAFT = {
  ...createDraft({ instances: ['old', 'new'], inputSets: ['days'], versions: ['v3', 'v1'] }),
  name: 'Is it faster?',
};

test('an id follows from the name', () => {
  expect(suggestId(' Is it faster? (2nd) ')).toBe('is-it-faster-2nd');
});

test('a batch experiment compares the candidates with the control', () => {
  expect(buildRequest('batch', { ...DRAFT, repetitions: '3', margin: '2.5' })).toEqual({
    operation: 'createBatchExperiment',
    body: {
      id: 'is-it-faster',
      name: 'Is it faster?',
      input_set_id: 'days',
      instance_ids: ['old', 'new'],
      repetitions: 3,
      objectives: {
        'result.value': { direction: 'minimize', margin: { type: 'relative', value: 0.025 } },
      },
      primary: 'result.value',
    },
  });
});

test('a scenario test has option sets, and may race them', () => {
  const draft = { ...DRAFT, candidates: [], optionSets: '{"a": {"n": "1"}}', usesRacing: true };
  expect(buildRequest('scenario', draft).body).toMatchObject({
    type: 'scenario',
    option_sets: { a: { n: '1' } },
    instance_ids: ['old'],
    racing: {},
  });
  expect(() => buildRequest('scenario', { ...DRAFT, optionSets: '{' })).toThrow(SyntaxError);
});

test('an acceptance test has its rules, with a tolerance unless it is 0', () => {
  const [rule] = DRAFT.rules;
  if (!rule) throw new Error('The draft has no rule.');
  const rules = [rule, { ...rule, tolerance: '7', usesBound: true }];
  expect(buildRequest('acceptance', { ...DRAFT, rules }).body).toMatchObject({
    control: { instance_id: 'old' },
    candidate: { instance_id: 'new' },
    metrics: [
      { field: 'result.value', statistic: 'mean', params: { operator: 'le' } },
      {
        hypothesis: 'non-inferiority',
        params: { operator: 'le', tolerance: { type: 'relative', value: 0.07 } },
      },
    ],
  });
});

test('tests on live runs name their instances, and a bisect experiment its versions', () => {
  expect(buildRequest('shadow', { ...DRAFT, sampleShare: '10' }).body).toMatchObject({
    comparisons: { old: ['new'] },
    termination_events: { maximum_runs: 100 },
    sample_share: 0.1,
    objectives: { 'result.value': 'minimize' },
  });
  expect(buildRequest('switchback', DRAFT).body).toMatchObject({
    comparison: { baseline_instance_id: 'old', candidate_instance_id: 'new' },
    generate_random_plan: { unit_duration_minutes: 60, units: 20, design: 'blocked', carry_over_units: 1 },
  });
  expect(buildRequest('bisect', DRAFT).body).toMatchObject({
    good_version_id: 'v1',
    bad_version_id: 'v3',
    difference: { type: 'relative', value: 0.05 },
  });
});
