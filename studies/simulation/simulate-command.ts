/**
 * Prints how often verdicts are right, on simulated experiments with a known truth, as Markdown tables:
 *
 *     node studies/simulation/simulate-command.ts [--experiments 400] [--table dependence]
 *
 * With 2,000 experiments a share of 5 % has a standard error of 0.5 %, so that two of them separate 5 % from 6 %. Power
 * needs fewer. All tables take about 45 minutes of processor time. Everything is seeded: the same command prints the same
 * numbers.
 */

import { parseArgs } from 'node:util';
import { formatPercent } from '@switchyard/contract/presentation/format-quantity.ts';
import type { SimulationTable } from './table-rows.ts';
import { SIMULATION_TABLES } from './tables.ts';

const EXPERIMENTS_DEFAULT: Record<SimulationTable['shows'], number> = { wrong: 2000, power: 1000 };

/** One table in Markdown. */
function printTable(table: SimulationTable, experiments: number, print: (line: string) => void): void {
  print(`\n### ${table.title} (${experiments} experiments in each cell)\n`);
  print(`| population | ${table.columns.join(' | ')} |`);
  print(`|---|${table.columns.map(() => '--:').join('|')}|`);
  for (const { name, cells } of table.rows) {
    const shares = cells.map((cell) => formatPercent(cell(experiments)));
    print(`| ${name} | ${shares.join(' | ')} |`);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { experiments: { type: 'string' }, table: { type: 'string' } } });
  for (const table of SIMULATION_TABLES)
    if (values.table === undefined || values.table === table.id)
      printTable(table, Number(values.experiments ?? EXPERIMENTS_DEFAULT[table.shows]), (line) =>
        console.log(line),
      );
}
