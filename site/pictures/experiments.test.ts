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
    const of = (id: string) => cost.units.filter((unit) => unit.instance_id === id).map((unit) => unit.mean);
    expect(mean(of(baseline))).toBeCloseTo(cost.control.mean, 6);
    expect(mean(of(candidate))).toBeCloseTo(cost.candidate.mean, 6);
    const observed = mean(of(candidate)) - mean(of(baseline));
    expect(cost.mean_difference.value).toBeCloseTo(observed, 6);
    // The p-value is the share of all plans with a unit on each side that differ at least as much.
    const values = cost.units.map((unit) => unit.mean);
    let plans = 0;
    let extreme = 0;
    for (let plan = 1; plan < 2 ** values.length - 1; plan += 1) {
      const sides: [number[], number[]] = [[], []];
      for (const [index, value] of values.entries()) sides[(plan >> index) & 1 ? 1 : 0].push(value);
      plans += 1;
      if (Math.abs(mean(sides[1]) - mean(sides[0])) >= Math.abs(observed) - 1e-6) extreme += 1;
    }
    expect(cost.randomization).toEqual({ p_value: extreme / plans, method: 'exact', assignments: plans });
  });

  test('has the rounded numbers of the page', () => {
    const expected = extractExamples('/docs/using-switchyard/experiments/switchback').find(
      (step) => step.kind === 'file' && step.path === 'finished.json',
    );
    const rounded = (_: string, value: unknown) =>
      typeof value === 'number' && Math.abs(value) > 1 ? Math.round(value) : value;
    const [{ units: _, ...cost }] = JSON.parse(JSON.stringify(result.compared, rounded));
    expect(JSON.parse(expected?.text ?? '')).toEqual({ compared: [cost] });
  });
});
