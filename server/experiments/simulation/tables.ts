/** The tables of the simulation: every population with the sizes at which it is simulated. */
import { ACCEPTANCE_TABLES } from './acceptance-tables.ts';
import { INTERACTION_TABLES } from './interaction-tables.ts';
import { PAIRED_TABLES } from './paired-tables.ts';
import { RACING_TABLES } from './racing-tables.ts';
import { SHADOW_TABLES } from './shadow-tables.ts';
import { SWITCHBACK_TABLES } from './switchback-tables.ts';
import type { SimulationTable } from './table-rows.ts';

/** All tables, in the order in which they are printed. */
export const SIMULATION_TABLES: readonly SimulationTable[] = [
  ...PAIRED_TABLES,
  ...INTERACTION_TABLES,
  ...SHADOW_TABLES,
  ...SWITCHBACK_TABLES,
  ...ACCEPTANCE_TABLES,
  ...RACING_TABLES,
];
