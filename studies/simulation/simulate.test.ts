/**
 * The short form of the simulation: every population with few experiments. With n experiments of a true share of 5 %, more
 * than 5 % + 4 standard errors occurs once in 30,000 cells.
 *
 * Everything is seeded, so verdict-counts.json has the exact number of each cell. Another number means that equal runs get
 * another verdict: then change ANALYSIS_METHOD, describe it in store/analysis-method.ts, and write the file again with
 * VERDICT_COUNTS=write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ANALYSIS_METHOD } from '@switchyard/contract/experiments/experiment-results.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { SIMULATION_TABLES } from './tables.ts';

const EXPERIMENTS = 30;
const computeLimit = (experiments: number) => 0.05 + 4 * Math.sqrt((0.05 * 0.95) / experiments);

const COUNTS_FILE = new URL('./verdict-counts.json', import.meta.url);
const isWriting = process.env.VERDICT_COUNTS === 'write';
const known: { method: string; counts: Record<string, Record<string, number>> } = JSON.parse(
  readFileSync(COUNTS_FILE, 'utf8'),
);
const found: typeof known = { method: ANALYSIS_METHOD, counts: {} };
afterAll(() => {
  if (isWriting) writeFileSync(COUNTS_FILE, `${JSON.stringify(found, null, 2)}\n`);
});

test('the known verdicts are those of this method of analysis', () => {
  if (!isWriting) expect(known.method).toBe(ANALYSIS_METHOD);
});

test('D18: the populations are unkind', () => {
  const names = SIMULATION_TABLES.flatMap(({ rows }) => rows.map(({ name }) => name)).join('\n');
  for (const kind of [
    'interaction of input and candidate',
    'fails on 20 %',
    'refuses 10 %',
    'AR(1) 0.9',
    'each input sent 5 times',
    '5 callers',
    'sizes over two orders of magnitude',
    'lognormal 1.5',
    'borrows from the next unit',
    'trend 30 %',
    '50 indicators',
    '20 candidates',
    'after every input',
  ])
    expect(names).toContain(kind);
});

describe.each(SIMULATION_TABLES)('$title', ({ id, rows, shows, columns }) => {
  test.each(rows)('$name', ({ name, cells, known: reason, cost = 1 }) => {
    // The smallest size of each row: large ones take minutes.
    const experiments = Math.ceil(EXPERIMENTS / cost);
    const share = cells[0]?.(experiments) ?? Number.NaN;
    expect(cells).toHaveLength(columns.length);
    expect(share).toBeGreaterThanOrEqual(0);
    if (shows === 'wrong' && reason === undefined)
      expect(share).toBeLessThanOrEqual(computeLimit(experiments));
    const count = Number((share * experiments).toFixed(6));
    found.counts[id] = { ...found.counts[id], [name]: count };
    if (!isWriting)
      expect(count, 'Equal runs get other verdicts; see the head of this file.').toBe(
        known.counts[id]?.[name],
      );
  });
});
