/** Tables of switchback tests. */
import { simulateSwitchbackLooks } from '../analyse-simulated.ts';
import type { SwitchbackPopulation } from '../switchback-populations.ts';
import {
  buildSwitchbackRow,
  countAcceptable,
  countWorse,
  drawRareLoss,
  type SimulationTable,
  UNIT_COUNTS,
} from '../table-rows.ts';

const DAYS: SwitchbackPopulation = { dayCycle: 0.15, dayDeviation: 0.05, trend: 0.1 };
const ASSUMED = 'The design assumes no carry-over (carry_over_units 0); the default is 1.';
const LONGER = 'Two units carry over and the design assumes one; `carry_over_test` reports it.';
const columns = UNIT_COUNTS.map((units) => `${units}`);

const switchback: SimulationTable = {
  id: 'switchback',
  title: 'Switchback, equal candidates, hourly units, blocked with carry-over 1: better or worse',
  shows: 'wrong',
  columns,
  rows: [
    ...(['normal', 'lognormal', 'heavy', 'ties'] as const).map((noise) =>
      buildSwitchbackRow(`${noise} noise`, { noise }),
    ),
    buildSwitchbackRow('AR(1) 0.9', { correlation: 0.9 }),
    buildSwitchbackRow('trend 30 %', { trend: 0.3 }),
    buildSwitchbackRow('day cycle 15 %', { dayCycle: 0.15 }),
    buildSwitchbackRow('day of the week 15 %', { weekCycle: 0.15 }),
    buildSwitchbackRow('day cycle, day effects 5 %, trend 10 %', DAYS),
    buildSwitchbackRow('1 to 40 runs a unit by the hour, day cycle 15 %', {
      busiestRuns: 40,
      dayCycle: 0.15,
    }),
    buildSwitchbackRow('independent coins, carry-over 1', {}, { kind: 'independent' }),
    buildSwitchbackRow('regular, carry-over 2', {}, { kind: 'regular', carryOverUnits: 2 }),
    buildSwitchbackRow('day cycle 15 %, best of 20 drafts', { dayCycle: 0.15, drafts: 20 }),
    buildSwitchbackRow('borrows from the next unit: total effect 0', { effect: -5, carryOver: [5] }),
    buildSwitchbackRow(
      'the same, with carry_over_units 0',
      { effect: -5, carryOver: [5] },
      { carryOverUnits: 0, known: ASSUMED },
    ),
    buildSwitchbackRow(
      'borrows from the next two units: total effect 0',
      { effect: -5, carryOver: [2.5, 2.5] },
      { known: LONGER },
    ),
    buildSwitchbackRow('candidate spreads 3 times as much', { candidateSpread: 3 }),
    buildSwitchbackRow('candidate spreads 5 times as much', { candidateSpread: 5 }),
    buildSwitchbackRow('lognormal effects of mean 0', {
      drawEffect: (generator) => 5 * (Math.exp(generator.normal()) - Math.exp(0.5)),
    }),
    buildSwitchbackRow('90 % of units 2 lower, 10 % 18 higher', { drawEffect: drawRareLoss(0.1, -2, 18) }),
  ],
};

const refusals: SimulationTable = {
  id: 'refusals',
  title:
    'Switchback, identical candidates that refuse or fail on the hardest of 20 runs a unit: better or worse',
  shows: 'wrong',
  columns,
  rows: [
    ...[0.05, 0.1, 0.2].map((refusedShare) =>
      buildSwitchbackRow(`refuses ${100 * refusedShare} %`, { runs: 20, refusedShare }),
    ),
    buildSwitchbackRow(
      'fails on 5 %: better or equivalent',
      { runs: 20, failedShare: 0.05 },
      { share: countAcceptable },
    ),
    buildSwitchbackRow(
      'reports no value on 5 %: better or equivalent',
      { runs: 20, silentShare: 0.05 },
      { share: countAcceptable },
    ),
  ],
};

const switchbackPower: SimulationTable = {
  id: 'switchback-power',
  title: 'Switchback, candidate 5 % worse, noise 5 %: worse',
  shows: 'power',
  columns,
  rows: (
    [
      ['blocked, carry-over 1', { kind: 'blocked', carryOverUnits: 1 }],
      ['blocked, carry-over 0', { kind: 'blocked', carryOverUnits: 0 }],
      ['independent, carry-over 0', { kind: 'independent', carryOverUnits: 0 }],
    ] as const
  ).flatMap(([name, design]) => [
    buildSwitchbackRow(
      `${name}, day cycle 15 %`,
      { effect: 5, dayCycle: 0.15 },
      { ...design, share: countWorse },
    ),
    buildSwitchbackRow(
      `${name}, cycle, days and trend`,
      { effect: 5, ...DAYS },
      { ...design, share: countWorse },
    ),
  ]),
};

const switchbackLooks: SimulationTable = {
  id: 'switchback-looks',
  title: 'Reading a switchback result after every unit: better or worse at some look, or at the end',
  shows: 'wrong',
  columns,
  rows: [
    {
      name: 'day cycle 15 %',
      cost: 10,
      cells: UNIT_COUNTS.map(
        (units) => (experiments) =>
          simulateSwitchbackLooks(
            { dayCycle: 0.15 },
            { kind: 'blocked', carryOverUnits: 1, units, unitMinutes: 60 },
            experiments,
          ),
      ),
    },
  ],
};

/** Tables of tests over time. */
export const SWITCHBACK_TABLES: readonly SimulationTable[] = [
  switchback,
  refusals,
  switchbackPower,
  switchbackLooks,
];
