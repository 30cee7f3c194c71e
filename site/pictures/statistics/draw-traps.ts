/**
 * Draws the pictures of mistakes that experiments make, one on each of the pages about acceptance tests, shadow tests and
 * releases. Shares are those of the simulation, as studies/README.md states them:
 *
 *     node site/pictures/statistics/draw-traps.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { computeEstimatedRateShare } from './simulate.ts';
import { drawShares } from './svg.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The statistics of the rules of the picture. */
const STATISTICS = ['mean', 'p50', 'p95', 'max', 'std'];

/** How often each input is sent, by the name of the population. */
const COPIES = {
  independent: 1,
  'each input sent 2 times': 2,
  'each input sent 5 times': 5,
  'each input sent 10 times': 10,
} as const;

/** Runs before a release, and runs that are watched after it. */
const WATCHED_RUNS = 20;
const FAILURE_RATES = [0.005, 0.02, 0.05, 0.1, 0.3];

/** Returns the cells of the first row with this name below a line with the text, without the name. */
function readRow(below: string, name: string): string[] {
  const readme = readFileSync(join(ROOT, 'studies/README.md'), 'utf8');
  const start = readme.indexOf(below);
  if (start < 0) throw new Error(`The README has no "${below}".`);
  for (const line of readme.slice(start).split('\n')) {
    const [, first = '', ...cells] = line.split('|').map((cell) => cell.trim());
    if (first.replaceAll('`', '') === name) return cells;
  }
  throw new Error(`The README has no row "${name}" below "${below}".`);
}

/** The shares in % of rules without a hypothesis that a candidate at twice the tolerance meets on ten inputs. */
export function listPointComparisons(): { name: string; share: number }[] {
  return STATISTICS.map((name) => ({
    name,
    share: Number(readRow('`--table acceptance-points`', name)[0]) / 100,
  }));
}

/** The shares of shadow tests of equal sides with a verdict at 300 originals: if each counts, and by input. */
export function listCopies(): { name: number; share: number; product: number }[] {
  return Object.entries(COPIES).map(([population, name]) => {
    const cells = readRow('### Shadow tests', population);
    return { name, share: Number(cells[4]) / 100, product: Number(cells[3]) / 100 };
  });
}

/** The shares of releases with equal failure rates that are moved back: by an estimated rate, and by Fisher's test. */
export function listRollbacks(): { name: string; share: number; product: number }[] {
  return FAILURE_RATES.map((rate) => {
    const name = `${100 * rate} %`;
    return {
      name,
      share: computeEstimatedRateShare(rate, WATCHED_RUNS),
      product: Number(readRow('### Watch after a release', `${name} fail, independently`)[0]) / 100,
    };
  });
}

/** The pictures by the path of their file below the documentation. */
export const TRAPS: Readonly<Record<string, () => string>> = {
  'experiments/acceptance-points': () =>
    drawShares(listPointComparisons(), { highest: 0.4, axis: 'statistic of the rule' }),
  'experiments/shadow-copies': () =>
    drawShares(listCopies(), { highest: 0.6, axis: 'originals with the same input' }),
  'deploy/release-rollbacks': () =>
    drawShares(listRollbacks(), { highest: 0.3, axis: 'runs that fail, before and after' }),
};

if (import.meta.main) {
  for (const [path, draw] of Object.entries(TRAPS))
    writeFileSync(join(ROOT, 'site/content/using-switchyard', `${path}.svg`), `${draw()}\n`);
}
