import { listIdsToTry, suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
/** Requests of the form of a new experiment. */
import { expect, test } from 'vitest';
import { createDraft, formatEnsembleSide } from './draft.ts';
import { buildRequest } from './types/type-forms.ts';

const DRAFT = {
  ...createDraft({ instances: ['old', 'new'], inputSets: ['days'], versions: ['v3', 'v1'], options: [] }),
  name: 'Is it faster?',
  candidates: ['new'],
};

test('F4: the ids to try for a name are the id, with the day, and with a number', () => {
  const [first, second, third, ...others] = listIdsToTry('nightly', new Date('2026-01-05T23:00:00Z'));
  expect([first, second, third]).toEqual(['nightly', 'nightly-2026-01-05', 'nightly-2026-01-05-2']);
  expect(others).toHaveLength(47);
});

test('an id follows from the name', () => {
  expect(suggestId(' Is it faster? (2nd) ')).toBe('is-it-faster-2nd');
});

test('the option sets are the default of the first number and twice that, within its limits', () => {
  const suggest = (options: Parameters<typeof createDraft>[0]['options']) =>
    JSON.parse(createDraft({ instances: [], inputSets: [], versions: [], options }).optionSets);
  const seed = { name: 'seed', option_type: 'int', default: 3 };
  const effort = { name: 'effort', option_type: 'float', default: '4', additional_attributes: { max: 6 } };
  expect(suggest([seed, { name: 'depot', option_type: 'string' }, effort])).toEqual({
    usual: { effort: '4' },
    double: { effort: '6' },
  });
  expect(suggest([seed])).toEqual({ one: {}, two: {} });
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

test.each([
  ['batch', {}, { priority: 2, max_duration: 60 }],
  ['scenario', { optionSets: '{}' }, { priority: 2, max_duration: 60 }],
  ['acceptance', {}, { priority: 2, max_duration: 60 }],
  ['bisect', {}, { priority: 2, max_duration: 60 }],
  // Its runs exist, or are those of callers.
  ['acceptance', { batch: 'winter' }, {}],
  ['shadow', {}, {}],
  ['switchback', {}, {}],
] as const)('F1, F2: the runs of a %s experiment with %j get %j', (type, values, expected) => {
  const { body } = buildRequest(type, { ...DRAFT, ...values, priority: '2', maxDuration: ' 60 ' });
  const { priority, max_duration } = { priority: undefined, max_duration: undefined, ...body };
  expect({ priority, max_duration }).toEqual(expected);
  const defaults = buildRequest(type, { ...DRAFT, ...values }).body;
  for (const field of ['priority', 'max_duration']) expect(defaults).not.toHaveProperty(field);
});

test('settings beside the primary indicator are those of its objective, and guardrails have a direction', () => {
  const draft = {
    ...DRAFT,
    description: ' Costs of winter, with the lateness that callers see. ',
    marginType: 'absolute' as const,
    margin: '3',
    measure: 'relative' as const,
    shift: '10',
    tieTolerance: '0.05',
    largestLoss: '50',
    failureMargin: '2.5',
    guardrails: [
      { indicator: 'result.custom.late', direction: 'minimize' as const },
      { indicator: 'result.value', direction: 'maximize' as const },
    ],
    seeds: '7, 8,9',
    seedOption: 'random',
    features: 'bytes, /stops',
    clusterBy: '/depot',
  };
  expect(buildRequest('batch', draft).body).toEqual({
    id: 'is-it-faster',
    name: 'Is it faster?',
    description: 'Costs of winter, with the lateness that callers see.',
    input_set_id: 'days',
    instance_ids: ['old', 'new'],
    seeds: ['7', '8', '9'],
    seed_option: 'random',
    features: ['bytes', '/stops'],
    cluster_by: ['/depot'],
    objectives: {
      // The primary indicator is no guardrail of itself.
      'result.value': {
        direction: 'minimize',
        margin: { type: 'absolute', value: 3 },
        measure: 'relative',
        shift: 10,
        tie_tolerance: 0.0005,
        largest_loss: 0.5,
        failure_margin: 0.025,
      },
      'result.custom.late': 'minimize',
    },
    primary: 'result.value',
    guardrails: ['result.custom.late'],
  });
});

test('an ensemble as a side makes a list of runs, with each option set and repetition', () => {
  const candidates = [formatEnsembleSide('best')];
  const draft = { ...DRAFT, candidates, repetitions: '2', optionSets: '{"a": {}, "b": {}}' };
  expect(buildRequest('scenario', draft).body).toMatchObject({
    runs: [
      { instance_id: 'old', option_set: 'a' },
      { instance_id: 'old', option_set: 'a', repetition: 1 },
      { instance_id: 'old', option_set: 'b' },
      { instance_id: 'old', option_set: 'b', repetition: 1 },
      { ensemble_id: 'best', option_set: 'a' },
      { ensemble_id: 'best', option_set: 'a', repetition: 1 },
      { ensemble_id: 'best', option_set: 'b' },
      { ensemble_id: 'best', option_set: 'b', repetition: 1 },
    ],
  });
  expect(buildRequest('acceptance', draft).body).toMatchObject({
    control: { instance_id: 'old' },
    candidate: { ensemble_id: 'best' },
  });
});

test('listed runs replace the sides, and must be a JSON list', () => {
  const listedRuns = '[{"version_id": "v1", "input_id": "monday"}]';
  const { body } = buildRequest('batch', { ...DRAFT, listedRuns, seeds: '1, 2' });
  expect(body).toMatchObject({ input_set_id: 'days', runs: [{ version_id: 'v1', input_id: 'monday' }] });
  expect(body).not.toHaveProperty('instance_ids');
  expect(body).not.toHaveProperty('seeds');
  for (const text of ['[', '{"instance_id": "old"}'])
    expect(() => buildRequest('batch', { ...DRAFT, listedRuns: text })).toThrow(/^The listed runs are not/);
});

test('an acceptance test evaluates an existing batch, and a search runs managed inputs', () => {
  const evaluated = buildRequest('acceptance', {
    ...DRAFT,
    batch: 'winter',
    repetitions: '3',
    features: 'bytes',
  });
  expect(evaluated.body).toMatchObject({ experiment_id: 'winter', control: { instance_id: 'old' } });
  for (const key of ['input_set_id', 'repetitions', 'features'])
    expect(evaluated.body).not.toHaveProperty(key);
  const { body } = buildRequest('bisect', { ...DRAFT, inputSet: '', inputIds: 'monday, tuesday' });
  expect(body).toMatchObject({ input_ids: ['monday', 'tuesday'] });
  expect(body).not.toHaveProperty('input_set_id');
});
