import { describe, expect, test } from 'vitest';
import {
  decideMetric,
  flattenDistribution,
  isStatistic,
  type Metric,
  type MetricTolerance,
  NO_TOLERANCE,
  type Operator,
  parseStatisticName,
  readStatistic,
  STATISTIC_NAMES,
} from './acceptance-metrics.ts';
import { summarize } from './summaries.ts';

const OPERATORS = ['gt', 'ge', 'lt', 'le', 'eq', 'ne'] as const;

function decide(control: number | null, candidate: number | null, fields: Partial<Metric>) {
  const metric: Metric = {
    field: 'result.value',
    metric_type: 'direct-comparison',
    statistic: 'mean',
    params: { operator: 'le', tolerance: NO_TOLERANCE },
    ...fields,
  };
  return decideMetric(
    metric,
    summarize(control === null ? [] : [control]),
    summarize(candidate === null ? [] : [candidate]),
  );
}

/** Returns the operators that pass. */
function listPassing(
  control: number,
  candidate: number,
  tolerance: MetricTolerance,
  metric_type: Metric['metric_type'] = 'direct-comparison',
): Operator[] {
  return OPERATORS.filter(
    (operator) => decide(control, candidate, { metric_type, params: { operator, tolerance } }).passed,
  );
}

describe('a direct comparison', () => {
  // The specified rule: candidate OP control, with the tolerance in the operator's favour.
  const absolute = { type: 'absolute', value: 5 } as const;
  const relative = { type: 'relative', value: 0.1 } as const;
  test.each<[number, number, MetricTolerance, Operator[]]>([
    [100, 100, NO_TOLERANCE, ['ge', 'le', 'eq']],
    [100, 101, NO_TOLERANCE, ['gt', 'ge', 'ne']],
    [100, 99, NO_TOLERANCE, ['lt', 'le', 'ne']],
    [100, 99, { type: '', value: 50 }, ['lt', 'le', 'ne']],
    [100, 104, absolute, ['gt', 'ge', 'lt', 'le', 'eq']],
    [100, 105, absolute, ['gt', 'ge', 'le', 'eq']],
    [100, 106, absolute, ['gt', 'ge', 'ne']],
    [100, 95, absolute, ['ge', 'lt', 'le', 'eq']],
    [100, 94, absolute, ['lt', 'le', 'ne']],
    [100, 110, relative, ['gt', 'ge', 'le', 'eq']],
    [100, 111, relative, ['gt', 'ge', 'ne']],
    [-100, -90, relative, ['gt', 'ge', 'le', 'eq']],
    [-100, -111, relative, ['lt', 'le', 'ne']],
    [0, 0.001, relative, ['gt', 'ge', 'ne']],
    [0, 0, relative, ['ge', 'le', 'eq']],
  ])('of control %d and candidate %d with %j passes %j', (control, candidate, tolerance, expected) => {
    expect(listPassing(control, candidate, tolerance)).toEqual(expected);
  });

  test('has the numbers of the decision in its reason', () => {
    const failed = decide(100, 106, { params: { operator: 'le', tolerance: absolute } });
    expect(failed).toEqual({
      passed: false,
      control_value: 100,
      candidate_value: 106,
      threshold: 105,
      reason: 'The candidate’s mean of result.value, 106, is above 105.',
    });
    expect(decide(100, 104, { params: { operator: 'eq', tolerance: absolute } }).reason).toBe(
      'The candidate’s mean of result.value, 104, is within 5 of 100.',
    );
  });
});

describe('thresholds', () => {
  interface ThresholdCase {
    name: string;
    sides: [number, number];
    tolerance: MetricTolerance;
    type: Metric['metric_type'];
    operators: Operator[];
  }
  test.each<ThresholdCase>([
    {
      name: 'the candidate alone',
      sides: [1, 7],
      tolerance: { type: 'absolute', value: 7 },
      type: 'absolute-threshold',
      operators: ['ge', 'le', 'eq'],
    },
    {
      name: 'the candidate with any type of tolerance',
      sides: [1000, 8],
      tolerance: { type: 'relative', value: 7 },
      type: 'absolute-threshold',
      operators: ['gt', 'ge', 'ne'],
    },
    {
      name: 'the candidate with a tolerance without a type',
      sides: [1000, 8],
      tolerance: { type: '', value: 9 },
      type: 'absolute-threshold',
      operators: ['lt', 'le', 'ne'],
    },
    {
      name: 'the difference',
      sides: [10, 13],
      tolerance: { type: 'absolute', value: 3 },
      type: 'difference-threshold',
      operators: ['ge', 'le', 'eq'],
    },
    {
      name: 'the difference as a share',
      sides: [100, 103],
      tolerance: { type: 'relative', value: 0.05 },
      type: 'difference-threshold',
      operators: ['lt', 'le', 'ne'],
    },
    {
      name: 'a difference below zero',
      sides: [10, 7],
      tolerance: { type: '', value: -2 },
      type: 'difference-threshold',
      operators: ['lt', 'le', 'ne'],
    },
  ])('of $name', ({ sides: [control, candidate], tolerance, type, operators }) => {
    expect(listPassing(control, candidate, tolerance, type)).toEqual(operators);
  });

  test('tolerate rounding errors', () => {
    // 1.3 - 1 is 0.30000000000000004.
    const tolerance = { type: 'absolute', value: 0.3 } as const;
    expect(listPassing(1, 1.3, tolerance, 'difference-threshold')).toEqual(['ge', 'le', 'eq']);
    expect(listPassing(0.3, 0.1 + 0.2, NO_TOLERANCE)).toEqual(['ge', 'le', 'eq']);
    expect(listPassing(1, 1 + 1e-9, NO_TOLERANCE)).toEqual(['gt', 'ge', 'ne']);
  });

  test('of the largest doubles stay finite', () => {
    const decision = decide(-Number.MAX_VALUE, Number.MAX_VALUE, {
      params: { operator: 'gt', tolerance: { type: 'relative', value: 10 } },
    });
    expect(decision).toMatchObject({ passed: true, threshold: -Number.MAX_VALUE });
    const le = decide(Number.MAX_VALUE, -Number.MAX_VALUE, {
      metric_type: 'difference-threshold',
      params: { operator: 'le', tolerance: { type: 'absolute', value: 1 } },
    });
    expect(le.passed).toBe(true);
  });
});

describe('a side without a value', () => {
  test.each(OPERATORS)('does not pass %s', (operator) => {
    const params = { operator, tolerance: NO_TOLERANCE };
    expect(decide(null, 1, { params })).toMatchObject({
      passed: false,
      control_value: null,
      threshold: null,
    });
    expect(decide(1, null, { params }).reason).toContain('No run of the candidate succeeded');
    expect(decide(null, null, { params, statistic: 'count' }).reason).toContain(
      'candidate nor of the control',
    );
  });

  test('passes an absolute threshold when it is the control', () => {
    const params = { operator: 'lt', tolerance: { type: 'absolute', value: 5 } } as const;
    expect(decide(null, 4, { metric_type: 'absolute-threshold', params }).passed).toBe(true);
    expect(decide(4, null, { metric_type: 'absolute-threshold', params }).passed).toBe(false);
  });

  test('has zeros and a count of 0 in the flat form', () => {
    const { distribution_summary_statistics: statistics, distribution_percentiles: percentiles } =
      flattenDistribution(null);
    expect(statistics).toEqual({
      min: 0,
      max: 0,
      count: 0,
      mean: 0,
      std: 0,
      shifted_geometric_mean: 0,
      shift_parameter: 10,
    });
    expect(Object.keys(percentiles).sort()).toEqual([
      'p01',
      'p05',
      'p10',
      'p25',
      'p50',
      'p75',
      'p90',
      'p95',
      'p99',
    ]);
  });
});

describe('statistics', () => {
  test.each([
    'mean',
    'MEAN',
    'p01',
    'P01',
    'p1',
    'P5',
    'p99',
    'std',
    'count',
    'shifted_geometric_mean',
    'Shifted Geometric-Mean',
  ])('include %s', (text) => {
    expect(isStatistic(text)).toBe(true);
  });

  test.each(['', 'average', 'p', 'p00', 'p02', 'p100', 'p099', 'median', '__proto__', 'mean;'])(
    'do not include %j',
    (text) => {
      expect(isStatistic(text)).toBe(false);
      expect(decide(1, 1, { statistic: text }).passed).toBe(false);
    },
  );

  test('match arithmetic', () => {
    const distribution = summarize([1, 2, 3, 4]);
    if (!distribution) throw new Error('no distribution');
    const flat = flattenDistribution(distribution);
    // Arithmetic: variance (2.25 + 0.25) x 2 / 3; the fourth root of 11 x 12 x 13 x 14; type 7 between 1 and 4.
    const values = Object.fromEntries(
      STATISTIC_NAMES.map((name) => [name, readStatistic(distribution, name)]),
    );
    expect(values).toMatchObject({ min: 1, max: 4, mean: 2.5, count: 4, p50: 2.5, p25: 1.75 });
    expect(values.std).toBeCloseTo(Math.sqrt(5 / 3), 14);
    expect(values.shifted_geometric_mean).toBeCloseTo((11 * 12 * 13 * 14) ** 0.25 - 10, 12);
    expect(values.p99).toBeCloseTo(3.97, 12);
    expect(flat.distribution_summary_statistics.shifted_geometric_mean).toBe(values.shifted_geometric_mean);
    expect(flat.distribution_percentiles.p25).toBe(1.75);
    expect(parseStatisticName('P1')).toBe('p01');
  });
});
