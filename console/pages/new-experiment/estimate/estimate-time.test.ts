/** The time estimate of an experiment. */
import { expect, test } from 'vitest';
import { createDraft, formatEnsembleSide } from '../draft.ts';
import { countTestedVersions, listWork } from './estimate-time.ts';

const DRAFT = createDraft({
  instances: ['old', 'new'],
  inputSets: ['days'],
  versions: ['v3', 'v2', 'v1'],
  options: [],
});
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
  ['a round of a search', 'bisect', {}, { old: 24 }],
  ['a round on listed inputs', 'bisect', { inputSet: '', inputIds: 'a, b' }, { old: 4 }],
  ['the limit of a search', 'bisect', { searchRuns: '500' }, { old: 500 }],
  [
    'listed runs',
    'batch',
    { listedRuns: '[{"instance_id": "old"}, {"ensemble_id": "best", "input_id": "a"}]' },
    { old: 15, new: 1 },
  ],
  ['a listed run of a version alone', 'batch', { listedRuns: '[{"version_id": "v1"}]' }, {}],
] as const)('the runs to execute are those of %s', (_, type, values, expected) => {
  const sums: Record<string, number> = {};
  for (const { instance, runs } of listWork(type, { ...DRAFT, ...values }, SIZES) ?? [])
    sums[instance] = (sums[instance] ?? 0) + runs;
  expect(sums).toEqual(expected);
});

test('a search tests the bad version, and then halves the versions before it', () => {
  expect(countTestedVersions(DRAFT, ['v3', 'v2', 'v1'])).toBe(2);
  expect(countTestedVersions({ ...DRAFT, goodVersion: 'v3', badVersion: 'v1' }, ['v3', 'v2', 'v1'])).toBe(0);
  const versions = Array.from({ length: 9 }, (_, index) => `v${9 - index}`);
  expect(countTestedVersions({ ...DRAFT, goodVersion: 'v1', badVersion: 'v9' }, versions)).toBe(4);
});
