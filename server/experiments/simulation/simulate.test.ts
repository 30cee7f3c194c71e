/**
 * The short form of the simulation: every population with few experiments. With n experiments of a true share of 5 %, more
 * than 5 % + 4 standard errors occurs once in 30,000 cells.
 */
import { describe, expect, test } from 'vitest';
import { SIMULATION_TABLES } from './tables.ts';

const EXPERIMENTS = 30;
const computeLimit = (experiments: number) => 0.05 + 4 * Math.sqrt((0.05 * 0.95) / experiments);

describe.each(SIMULATION_TABLES)('$title', ({ rows, shows, columns }) => {
  test.each(rows)('$name', ({ cells, known, cost = 1 }) => {
    // The smallest size of each row: large ones take minutes.
    const experiments = Math.ceil(EXPERIMENTS / cost);
    const share = cells[0]?.(experiments) ?? Number.NaN;
    expect(cells).toHaveLength(columns.length);
    expect(share).toBeGreaterThanOrEqual(0);
    if (shows === 'wrong' && known === undefined)
      expect(share).toBeLessThanOrEqual(computeLimit(experiments));
  });
});
