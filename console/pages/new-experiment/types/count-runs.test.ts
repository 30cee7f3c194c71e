/** The time estimate of an experiment. */
import { expect, test } from 'vitest';
import { createDraft, formatEnsembleSide } from '../draft.ts';
import { TYPE_FORMS } from './type-forms.ts';

const DRAFT = {
  ...createDraft({
    instances: ['old', 'new'],
    inputSets: ['days'],
    versions: ['v3', 'v2', 'v1'],
    options: [],
  }),
  candidates: ['new'],
};
const SIZES = {
  inputs: 12,
  ensembles: [
    {
      id: 'best',
      groups: [
        { instance: 'old', runs: 3 },
        { instance: 'new', runs: 1 },
      ],
    },
  ],
};

test.each([
  ['each side', 'batch', {}, { old: 12, new: 12 }],
  ['repetitions and option sets', 'scenario', { repetitions: '2' }, { old: 48, new: 48 }],
  [
    'the child runs of an ensemble',
    'batch',
    { candidates: [formatEnsembleSide('best')] },
    { old: 48, new: 12 },
  ],
  ['an acceptance test on existing runs', 'acceptance', { batch: 'winter' }, {}],
  ['copies', 'shadow', { maximumRuns: '70' }, { new: 70 }],
  [
    'listed runs',
    'batch',
    { listedRuns: '[{"instance_id": "old"}, {"ensemble_id": "best", "input_id": "a"}]' },
    { old: 15, new: 1 },
  ],
  ['a listed run of a version alone', 'batch', { listedRuns: '[{"version_id": "v1"}]' }, {}],
] as const)('the runs to execute are those of %s', (_, type, values, expected) => {
  const sums: Record<string, number> = {};
  for (const { instance, runs } of TYPE_FORMS[type].listWork({ ...DRAFT, ...values }, SIZES) ?? [])
    sums[instance] = (sums[instance] ?? 0) + runs;
  expect(sums).toEqual(expected);
});
