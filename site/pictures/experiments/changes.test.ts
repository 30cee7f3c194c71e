/** The pictures of changes show the examples of their pages, and the words of the pages state the same numbers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatChange, formatInterval } from '@switchyard/contract/experiments/presentation/effects.ts';
import { describe, expect, test } from 'vitest';
import { extractExamples } from '../../examples.ts';
import { CAPTIONS, type Changes, drawChanges, readChanges } from './changes-diagram.ts';

const folder = join(import.meta.dirname, '../../content/using-switchyard/experiments');
const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
const percent = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} %`;
const size = (ratio: number) => percent(1 + Math.abs(ratio - 1));
const count = (ratios: number[], isCounted: (ratio: number) => boolean) => ratios.filter(isCounted).length;

/** Returns what the examples of a page print, which the tests of the examples compare with the server's results. */
function readOutput(page: string): string {
  const steps = extractExamples(`/docs/using-switchyard/experiments/${page}`);
  return steps.map((step) => (step.kind === 'shell' ? String(step.expect ?? '') : '')).join('\n');
}

/** Returns the effect as the command line prints it. */
function formatPrinted({ value, interval }: Changes): string {
  const effect = { measure: 'relative', margin: null, value: value - 1 } as const;
  const change = formatChange('relative', effect.value);
  if (interval === null) return `${change}.`.replaceAll('\u00a0', ' ');
  const ends = { low: interval.low - 1, high: interval.high - 1 };
  const text = `${change} (95 % interval ${formatInterval({ ...effect, ...ends })}).`;
  return text.replaceAll('\u00a0', ' ');
}

/** Lists the texts that the page prints about one candidate. */
const PRINTED: Record<string, (changes: Changes) => string[]> = {
  batch: (changes) => [
    `better than batch-current in result.value: ${formatPrinted(changes)}`,
    `${count(changes.ratios, (ratio) => ratio < 1)} inputs won, ${count(changes.ratios, (ratio) => ratio === 1)} tied, 0 lost`,
  ],
  scenario: (changes) => [
    `in result.value: ${formatPrinted(changes)}`,
    `won ${count(changes.ratios, (ratio) => ratio < 1)}, tied ${count(changes.ratios, (ratio) => ratio === 1)}, lost ${count(changes.ratios, (ratio) => ratio > 1)}`,
    `${changes.name}: `,
  ],
  acceptance: ({ value, threshold = 0 }) => [
    `is ${value > threshold ? 'above' : 'at most'} ${threshold}; the estimate is ${Number(value.toPrecision(6))}.`,
  ],
  shadow: (changes) => [
    `better than shadow-baseline in result.value: ${formatPrinted(changes)}`,
    `${count(changes.ratios, (ratio) => ratio < 1)} of ${changes.ratios.length} won`,
  ],
};

describe.each(Object.keys(PRINTED))('the picture of %s', (page) => {
  const candidates = readChanges(page);

  test('is up to date', () => {
    expect(read(`${page}-changes.svg`)).toBe(drawChanges(candidates, CAPTIONS[page] ?? ''));
  });

  test('has one dot for each ratio, and a line at their geometric mean', () => {
    const dots = [...read(`${page}-changes.svg`).matchAll(/h0/g)];
    expect(dots).toHaveLength(candidates.reduce((sum, { ratios }) => sum + ratios.length, 0));
    for (const { ratios, value } of candidates) {
      const mean = ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length;
      expect(value).toBeCloseTo(Math.exp(mean), 6);
    }
  });

  test('has the numbers that the example prints', () => {
    for (const changes of candidates)
      for (const text of PRINTED[page]?.(changes) ?? []) expect(readOutput(page)).toContain(text);
  });
});

/** The ends of an interval that the example has. */
function ends({ name, interval }: Changes): NonNullable<Changes['interval']> {
  if (interval === null) throw new Error(`${name} has no interval.`);
  return interval;
}

/** Sentences of the pages with numbers of the example. */
const STATED: [page: string, write: (candidates: Changes[]) => string[]][] = [
  [
    'batch',
    ([first]) =>
      first === undefined
        ? []
        : [
            `the plans of the candidate are ${Math.round(100 * (1 - first.value))} % cheaper`,
            `between ${size(ends(first).high)} and ${size(ends(first).low)}`,
            `a saving of ${size(ends(first).high)}, the near end`,
            `Up to ${Math.round(100 * (1 - 0.05 ** (1 / first.ratios.length)))} % of other days may be worse`,
          ],
  ],
  [
    'scenario',
    ([short, long]) =>
      short === undefined || long === undefined
        ? []
        : [
            `its plans cost ${size(short.value)} more`,
            `between ${size(ends(short).low)} and ${size(ends(short).high)}`,
            // Clopper and Pearson: scipy's beta.ppf(0.95, 3, 10) = 0.438105.
            `up to 44 % of other days may differ`,
          ],
  ],
  [
    'shadow',
    ([first]) =>
      first === undefined
        ? []
        : [
            `the plans of the candidate would have been ${Math.round(100 * (1 - first.value))} % cheaper`,
            `between ${size(ends(first).high)} and ${size(ends(first).low)}`,
            `won on ${count(first.ratios, (ratio) => ratio < 1)} of ${first.ratios.length} days`,
          ],
  ],
  [
    'acceptance',
    ([fast, equal]) =>
      fast === undefined || equal === undefined
        ? []
        : [
            `the plans of the candidate cost ${size(fast.value)} more`,
            `the plans cost ${size(equal.value)} more on these twelve days`,
            `from ${percent(ends(equal).low).replace('-', '−')} to +${percent(ends(equal).high)}`,
          ],
  ],
];

test.each(STATED)('the sentences of %s have the numbers of its example', (page, write) => {
  const words = read(`${page}.md`).replaceAll(/\s+/g, ' ');
  const texts = write(readChanges(page));
  expect(texts.length).toBeGreaterThan(1);
  for (const text of texts) expect(words).toContain(text);
});
