import { expect, test } from 'vitest';
import { buildEnsembleRequest, createGroup, createRule, parseOptions } from './draft.ts';

test('a form becomes a request with percents as shares and lines as options', () => {
  const request = buildEnsembleRequest({
    id: ' best ',
    name: 'Best of two',
    description: '',
    groups: [{ ...createGroup('production', 0), repetitions: '2', options: 'seed=1\nquery = a=b\n' }],
    rules: [
      { ...createRule(), tolerance: '2' },
      { ...createRule(), indicator: 'custom.late', tolerance: '' },
    ],
  });
  expect(request).toEqual({
    id: 'best',
    name: 'Best of two',
    run_groups: [
      { id: 'group-1', instance_id: 'production', repetitions: 2, options: { seed: '1', query: 'a=b' } },
    ],
    rules: [
      {
        id: 'rule-1',
        statistics_path: 'result.value',
        objective: 'minimize',
        index: 0,
        tolerance: { type: 'relative', value: 0.02 },
      },
      { id: 'rule-2', statistics_path: 'custom.late', objective: 'minimize', index: 1 },
    ],
  });
});

test('an option without a value is an error', () => {
  expect(() => parseOptions('seed')).toThrow('The option "seed" has no value.');
});
