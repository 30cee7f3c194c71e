/** The tables of the simulation: every population with the sizes at which it is simulated. */
import { ACCEPTANCE_STATISTICS_TABLES } from './acceptance/acceptance-statistics-tables.ts';
import { ACCEPTANCE_TABLES } from './acceptance/acceptance-tables.ts';
import { BISECT_TABLES } from './bisect-tables.ts';
import { SHADOW_TABLES } from './online/shadow-tables.ts';
import { SWITCHBACK_TABLES } from './online/switchback-tables.ts';
import { PAIRED_TABLES } from './paired-tables.ts';
import { PLANNING_TABLES } from './planning/planning-tables.ts';
import { POWER_TABLES } from './power-tables.ts';
import { QUESTION_TABLES } from './question-tables.ts';
import { RACING_TABLES } from './racing-tables.ts';
import { RELATED_TABLES } from './related-tables.ts';
import type { SimulationTable } from './table-rows.ts';
import { TIES_TABLES } from './ties-tables.ts';
import { TOTAL_TABLES } from './total-tables.ts';
import { WATCH_TABLES } from './watch-tables.ts';

/** All tables, in the order in which they are printed. */
export const SIMULATION_TABLES: readonly SimulationTable[] = [
  ...PAIRED_TABLES,
  ...TIES_TABLES,
  ...TOTAL_TABLES,
  ...POWER_TABLES,
  ...PLANNING_TABLES,
  ...SHADOW_TABLES,
  ...RELATED_TABLES,
  ...SWITCHBACK_TABLES,
  ...ACCEPTANCE_TABLES,
  ...ACCEPTANCE_STATISTICS_TABLES,
  ...RACING_TABLES,
  ...QUESTION_TABLES,
  ...WATCH_TABLES,
  ...BISECT_TABLES,
];
