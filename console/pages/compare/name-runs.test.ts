import { expect, test } from 'vitest';
import { nameRuns } from './name-runs.ts';

test('runs of the same name are distinguished by their ids', () => {
  const runs = [
    { id: 'run-1', name: 'Monday' },
    { id: 'run-2', name: 'Monday' },
    { id: 'run-3', name: 'Tuesday' },
    { id: 'run-4', name: '' },
  ];
  expect(nameRuns(runs)).toEqual(['Monday · run-1', 'Monday · run-2', 'Tuesday', 'run-4']);
});
