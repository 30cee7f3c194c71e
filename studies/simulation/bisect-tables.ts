/** The table of bisect experiments: how often the search names a version that did not make it worse. */

import {
  type RoundOutcome,
  runSearch,
  type SearchResult,
} from '@switchyard/server/experiments/statistics/bisect/search.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import type { SimulationRow, SimulationTable } from './table-rows.ts';

const VERSIONS = 9;
const DIFFERENCE = 0.03;
/** Standard deviations of a round against the good version, in differences. */
const NOISES = [0.5, 1, 2] as const;
const MAXIMUM_RUNS = 20_000;

/** Searches once among the versions; `drawRun` returns the value of a run of a version as a share of that of the good one. */
function search(drawRun: (version: number) => number): SearchResult {
  const settings = {
    versions: Array.from({ length: VERSIONS }, (_, index) => `v${index}`),
    ...{ difference: DIFFERENCE, confidence: 0.95, runsPerRound: 2, maximumRuns: MAXIMUM_RUNS },
  };
  const rounds = new Map<string, RoundOutcome[]>();
  for (;;) {
    const result = runSearch(settings, (version) => ({ rounds: rounds.get(version) ?? [], obstacle: null }));
    if (result.next === null) return result;
    const { version, count, reference } = result.next;
    const known = rounds.get(version) ?? [];
    for (let round = 0; round < count; round += 1) {
      const tested = drawRun(Number(version.slice(1)));
      const ahead = reference === null ? null : tested - drawRun(Number(reference.slice(1)));
      known.push({ state: 'ended', effect: tested - drawRun(0), ahead });
    }
    rounds.set(version, known);
  }
}

function buildRow(name: string, computeEffect: (version: number, culprit: number) => number): SimulationRow {
  return {
    name,
    cells: NOISES.map((noise) => (experiments) => {
      const random = new RandomGenerator(`bisect ${name} ${noise}`);
      const deviation = (noise * DIFFERENCE) / Math.SQRT2;
      let wrong = 0;
      for (let experiment = 0; experiment < experiments; experiment += 1) {
        const culprit = 1 + random.integerBelow(VERSIONS - 1);
        const { ending, firstBad } = search(
          (version) => computeEffect(version, culprit) + deviation * random.normal(),
        );
        const isMissed = ending === 'not_worse' && computeEffect(VERSIONS - 1, culprit) >= DIFFERENCE;
        const isElsewhere = ending === 'found' && firstBad !== `v${culprit}`;
        const isFalse = ending === 'found' && computeEffect(VERSIONS - 1, culprit) <= 0;
        if (isMissed || isElsewhere || isFalse) wrong += 1 / experiments;
      }
      return wrong;
    }),
  };
}

const buildStep = (size: number) => (version: number, culprit: number) =>
  version >= culprit ? size * DIFFERENCE : 0;

export const BISECT_TABLES: readonly SimulationTable[] = [
  {
    id: 'bisect',
    title: 'Bisect, nine versions: another version than the one that made it worse, by noise in differences',
    shows: 'wrong',
    columns: NOISES.map(String),
    rows: [
      buildRow('equal versions', () => 0),
      buildRow('a step of the difference', buildStep(1)),
      buildRow('a step of twice the difference', buildStep(2)),
      buildRow('a step of half of the difference', buildStep(0.5)),
      buildRow('a step of three quarters of it', buildStep(0.75)),
    ],
  },
];
