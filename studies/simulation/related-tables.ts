/** Tables of inputs that are versions of each other: the same few instances are planned again with small changes. */
import type { PairedPopulation } from './paired-populations.ts';
import { buildPairedRow, formatSizes, type SimulationTable } from './table-rows.ts';

const SIZES = [
  [20, 1],
  [50, 1],
  [100, 1],
] as const;
const TURN_SIZES = [
  [50, 1],
  [100, 1],
  [300, 1],
] as const;

const HIDDEN =
  'Values hide the versions of few inputs, or among much noise; `cluster_by` or comparable contents show them.';

/** Inputs in versions whose sizes differ by 1 %. Apps are deterministic unless the population has noise. */
const buildVersions = (
  count: number,
  interaction: number,
  fields: Partial<PairedPopulation['versions'] & object> = {},
): PairedPopulation => ({ noise: 'none', interaction, versions: { count, change: 0.01, ...fields } });

const related: SimulationTable = {
  id: 'related',
  title: 'Batch, equal candidates, inputs in versions: better or worse',
  shows: 'wrong',
  columns: formatSizes(SIZES),
  rows: [
    ...[2, 3, 5, 10, 20].map((count) =>
      buildPairedRow(`${count} versions, interaction 10 %`, buildVersions(count, 0.1), SIZES, {
        known: HIDDEN,
      }),
    ),
    ...[2, 3, 5].map((count) =>
      buildPairedRow(`${count} versions, interaction 1 %`, buildVersions(count, 0.01), SIZES, {
        known: HIDDEN,
      }),
    ),
    ...[2, 4].map((count) =>
      buildPairedRow(
        `mixed numbers of versions, ${count} on average`,
        buildVersions(count, 0.05, { mixed: true }),
        SIZES,
        { known: HIDDEN },
      ),
    ),
    ...[2, 3, 5].map((count) =>
      buildPairedRow(
        `${count} versions, interaction 10 %, noise 5 %`,
        { ...buildVersions(count, 0.1), noise: 'normal' },
        SIZES,
        { known: HIDDEN },
      ),
    ),
    ...[2, 3, 5, 10].map((count) =>
      buildPairedRow(
        `${count} versions, interaction 10 %, contents compared`,
        buildVersions(count, 0.1, { compared: true }),
        SIZES,
      ),
    ),
  ],
};

const replanned: SimulationTable = {
  id: 'replanned',
  title: 'Shadow, equal candidates, fleets planned again in turn: better or worse',
  shows: 'wrong',
  columns: TURN_SIZES.map(([originals]) => `${originals}`),
  rows: [10, 20, 40].flatMap((count) => [
    buildPairedRow(
      `${count} fleets, interaction 5 %`,
      buildVersions(count, 0.05, { turn: true }),
      TURN_SIZES,
      {
        kind: 'shadow',
        known: HIDDEN,
      },
    ),
    buildPairedRow(
      `${count} fleets, interaction 5 %, noise 5 %`,
      { ...buildVersions(count, 0.05, { turn: true }), noise: 'normal' },
      TURN_SIZES,
      { kind: 'shadow', known: HIDDEN },
    ),
  ]),
};

/** Tables of related inputs. */
export const RELATED_TABLES: readonly SimulationTable[] = [related, replanned];
