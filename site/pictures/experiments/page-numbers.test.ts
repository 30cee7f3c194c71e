/** The pictures of planning, bisect and profiles show the numbers that the examples of their pages print. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { extractExamples } from '../../examples.ts';
import { drawBisectDiagram, readSearch } from './bisect-diagram.ts';
import { drawPlanningDiagram, INPUTS_MIN, PLANS } from './planning-diagram.ts';
import { drawProfiles, readProfiles } from './profiles-diagram.ts';

const folder = join(import.meta.dirname, '../../content/using-switchyard/experiments');
const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim();

function readOutput(page: string): string {
  const steps = extractExamples(`/docs/using-switchyard/experiments/${page}`);
  return steps.map((step) => (step.kind === 'shell' ? String(step.expect ?? '') : '')).join('\n');
}

describe('the picture of planning', () => {
  test('is up to date', () => {
    expect(read('planning.svg')).toBe(drawPlanningDiagram(PLANS, INPUTS_MIN));
  });

  test('has the plans that the example prints', () => {
    const printed = [...readOutput('planning').matchAll(/^ +(\d+) +(\d+) +\d+$/gm)];
    expect(printed.map(([, repetitions, inputs]) => [Number(repetitions), Number(inputs)])).toEqual(
      PLANS.map(({ repetitions, inputs }) => [repetitions, inputs]),
    );
  });

  test('has the limit that endless repetitions leave', () => {
    const [, plan] = readOutput('planning').match(/no noise of runs: (\d+) inputs/) ?? [];
    expect(plan).toBe(String(INPUTS_MIN));
    expect(read('planning.md')).toContain(`Below ${INPUTS_MIN} inputs, no number of repetitions is enough`);
  });
});

describe('the picture of a bisect experiment', () => {
  const search = readSearch();

  test('is up to date', () => {
    expect(read('bisect.svg')).toBe(drawBisectDiagram(search));
  });

  test('has the steps that the example prints', () => {
    for (const { version_id, decision, number_of_rounds, effect } of search.steps)
      expect(readOutput('bisect')).toContain(
        `${version_id}: ${decision} after ${number_of_rounds} rounds, ${Math.round(100 * effect)}%`,
      );
  });

  test('separates the versions at the difference', () => {
    const limit = search.difference.value;
    const first = search.steps.find(({ decision }, index) => index > 0 && decision === 'worse');
    expect(readOutput('bisect')).toContain(`"${first?.version_id}" is the first`);
    for (const { decision, effect } of search.steps) expect(effect > limit).toBe(decision === 'worse');
  });
});

describe('the picture of profiles', () => {
  const profiles = readProfiles();

  test('is up to date', () => {
    expect(read('profiles.svg')).toBe(drawProfiles(profiles));
  });

  test('has the numbers that the example prints', () => {
    for (const { option_set, wins, gap_to_best, performance } of profiles) {
      const within = performance.findLast(({ x }) => x <= 1.05)?.share ?? 0;
      expect(performance.find(({ x }) => x === 1)?.share).toBe(wins / 8);
      expect(readOutput('profiles')).toContain(
        `${option_set}: best on ${wins} of 8 days, within 5 % of the best on ${8 * within}, mean gap ${(100 * gap_to_best).toFixed(1)} %`,
      );
    }
  });
});
