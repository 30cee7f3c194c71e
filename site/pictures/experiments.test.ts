/** The pictures of the pages on experiments: the files are up to date, and their numbers are right. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { extractExamples } from '../examples.ts';
import { drawBatchDiagram, listExampleRuns } from './batch-diagram.ts';
import { drawShadowDiagram, PATHS, STOPS } from './shadow-diagram.ts';
import { drawSwitchbackDiagram, readResult } from './switchback-diagram.ts';

const folder = join(import.meta.dirname, '../content/using-switchyard/experiments');
const file = (name: string) => readFileSync(join(folder, name), 'utf8').trim();

describe('the picture of a batch', () => {
  const picture = drawBatchDiagram(listExampleRuns());

  test('is up to date', () => {
    expect(file('batch.svg')).toBe(picture);
  });

  test('has a station for each run, a line and one difference for each input', () => {
    const stations = [...picture.matchAll(/class="station" cx="([\d.]+)" cy="([\d.]+)"/g)];
    expect(new Set(stations.map(([, x, y]) => `${x} ${y}`)).size).toBe(3 * 2 * 2);
    expect(new Set(stations.map(([, , y]) => y)).size).toBe(3);
    expect(picture.match(/class="open"/g)).toHaveLength(3);
  });
});

describe('the picture of a shadow test', () => {
  test('is up to date', () => {
    expect(file('shadow.svg')).toBe(drawShadowDiagram());
  });

  test('has the same path for callers as without a test', () => {
    const callers = PATHS.filter(([, , track]) => track === 'train').map(([from, to]) => `${from} ${to}`);
    expect(callers).toEqual(['made baseline', 'baseline answer']);
  });

  test('connects the created run with every other stop', () => {
    const reached = new Set(['made']);
    for (const _ of PATHS) for (const [from, to] of PATHS) if (reached.has(from)) reached.add(to);
    expect([...reached].sort()).toEqual(Object.keys(STOPS).sort());
  });
});

describe('the picture of a switchback test', () => {
  const result = readResult();
  const { baseline_instance_id: baseline, candidate_instance_id: candidate } = result.comparison;

  test('is up to date, with every compared unit', () => {
    const picture = drawSwitchbackDiagram(result);
    expect(file('switchback.svg')).toBe(picture);
    const drawn = [...picture.matchAll(/class="(route-\d)" data-unit="(\d+)"/g)];
    expect(drawn.map(([, side, unit]) => [Number(unit), side])).toEqual(
      result.compared[0]?.units.map(({ index, instance_id }) => [
        index,
        instance_id === candidate ? 'route-1' : 'route-2',
      ]),
    );
  });

  test('has the figures that arithmetic gives', () => {
    const [cost] = result.compared;
    if (!cost) throw new Error('Nothing is compared.');
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    // A unit counts when the same side served the unit before it; before the plan the baseline served.
    const isCounted = (plan: string[], unit: number) => plan[unit] === (plan[unit - 1] ?? baseline);
    const listValues = (plan: string[], id: string) =>
      cost.units.filter((_, unit) => plan[unit] === id && isCounted(plan, unit)).map((unit) => unit.mean);
    const real = result.plan.units.map((unit) => unit.instance_id);
    expect(cost.units.map(({ counted }) => counted)).toEqual(real.map((_, unit) => isCounted(real, unit)));
    expect(mean(listValues(real, baseline))).toBeCloseTo(cost.control.mean, 6);
    expect(mean(listValues(real, candidate))).toBeCloseTo(cost.candidate.mean, 6);

    const compare = (plan: string[]) => {
      const sides = [baseline, candidate].map((id) => listValues(plan, id).map(Math.log));
      const [control = 0, treated = 0] = sides.map(mean);
      const variances = sides.map((values) => {
        const average = mean(values);
        const squares = values.reduce((sum, value) => sum + (value - average) ** 2, 0);
        return squares / (values.length - 1) / values.length;
      });
      return { effect: treated - control, error: Math.sqrt((variances[0] ?? 0) + (variances[1] ?? 0)) };
    };
    const observed = compare(real);
    // Six coins: each gives one of two neighbouring blocks of two units to the candidate.
    const distances = Array.from({ length: 2 ** 6 }, (_, heads) => {
      const plan = real.map((_id, unit) =>
        ((heads >> Math.floor(unit / 4)) & 1) === Math.floor((unit % 4) / 2) ? candidate : baseline,
      );
      const { effect, error } = compare(plan);
      return Math.abs(effect / error);
    }).sort((a, b) => b - a);
    const extreme = distances.filter((t) => t >= Math.abs(observed.effect / observed.error) - 1e-9).length;
    expect(cost.adjusted_for).toEqual([]);
    expect(cost.randomization).toMatchObject({ p_value: extreme / 64, method: 'exact', assignments: 64 });
    // One primary indicator beside others has 80 of the 85 % of the error rate that they share.
    expect(cost.randomization.p_value_holm).toBeCloseTo((extreme / 64) * (0.85 / 0.8), 12);
    const half = (distances[Math.floor(0.05 * 64)] ?? 0) * observed.error;
    const { value, interval } = cost.geometric_mean_ratio;
    expect(value).toBeCloseTo(Math.exp(observed.effect), 9);
    expect(interval.low).toBeCloseTo(Math.exp(observed.effect - half), 9);
    expect(interval.high).toBeCloseTo(Math.exp(observed.effect + half), 9);
  });

  test('has the numbers of the sentences', () => {
    const [cost] = result.compared;
    if (!cost) throw new Error('Nothing is compared.');
    const words = file('switchback.md').replaceAll(/\s+/g, ' ');
    const { value, interval } = cost.geometric_mean_ratio;
    const saving = (ratio: number) => `${(100 * (1 - ratio)).toFixed(1)} %`;
    expect(words).toContain(`plans were ${saving(value)} cheaper`);
    expect(words).toContain(`shares between ${saving(interval.high)} and ${saving(interval.low)} fit`);
    expect(words).toContain(`a saving of ${saving(interval.high)}, the near end`);
    const { p_value, assignments } = cost.randomization;
    const share = `${(100 * p_value).toFixed(1)} % of them`;
    expect(words).toContain(`in ${p_value * assignments} of ${assignments} draws, which are ${share}`);
  });

  test('has the rounded numbers of the page', () => {
    const expected = extractExamples('/docs/using-switchyard/experiments/switchback').find(
      (step) => step.kind === 'file' && step.path === 'finished.json',
    );
    const round = (_: string, value: unknown) =>
      typeof value === 'number'
        ? Math.abs(value) > 1
          ? Math.round(value)
          : Number(value.toPrecision(4))
        : value;
    const [{ units: _, ...cost }] = JSON.parse(JSON.stringify(result.compared, round));
    expect(JSON.parse(expected?.text ?? '')).toEqual({ compared: [cost] });
  });
});
