/** Races on inputs with mostly equal contents: the first input of a group counts, and the others are no evidence. */
import { expect, test } from 'vitest';
import { DEFAULT_INDICATOR } from '../../results/select-indicators.ts';
import type { Observation } from '../observations.ts';
import { SIMILAR_CONTENT } from '../paired/relation.ts';
import type { RacePlan } from './race-plan.ts';
import { RaceReader } from './read-race.ts';

const INPUTS = 40;
const configurations = ['first', 'second'].map((option_set) => ({
  ...{ instance_id: 'app', version_id: 'v1', option_set, scenario_id: null },
}));

/** Returns the e-value against the second configuration, which loses on every input of a race in so many groups. */
function findEvidence(groups: number, inputs = INPUTS): number | undefined {
  const race: RacePlan = {
    confidence: 0.95,
    indicator: 'result.value',
    configurations,
    repetitions: [0],
    inputs: Array.from({ length: inputs }, (_, index) => ({
      content: `content ${index}`,
      inputs: [{ input_set_id: 'set', input_id: `input ${index}` }],
    })),
    planned_inputs: inputs,
    planned_runs: 2 * inputs,
    decided_inputs: 0,
    dropped: [],
  };
  const reader = new RaceReader(race);
  for (let index = 0; index < inputs; index += 1)
    for (const [place, configuration] of configurations.entries())
      reader.add({
        ...configuration,
        input_id: `input ${index}`,
        content: `content ${index}`,
        repetition: 0,
        status: 'succeeded',
        indicators: [{ name: 'result.value', value: 100 + place * (5 + (index % groups)) }],
        ...(groups < inputs ? { clusters: { [SIMILAR_CONTENT]: `${index % groups}` } } : {}),
      } satisfies Observation);
  return reader.computeState({ ...DEFAULT_INDICATOR, direction: 'minimize' }, inputs).e_values[1];
}

test('T2: forty versions of four inputs are as much evidence as the four', () => {
  // A race with a confidence of 95 % drops at 1 / 0.05.
  const dropAt = 20;
  expect(findEvidence(4)).toBeCloseTo(findEvidence(4, 4) ?? Number.NaN, 10);
  expect(findEvidence(4)).toBeLessThan(dropAt);
  expect(findEvidence(40)).toBeGreaterThan(dropAt);
});
