/** The `definition` column of shadow and switchback tests, with their routes and the times of a plan. Pure. */
import type { Objective } from '@switchyard/contract/experiments/experiment-results.ts';
import type { ShadowRoute, SwitchbackRoute } from '../../runs/store/routes.ts';
import type { ExperimentsTable } from './schema.ts';

const MINUTE_MS = 60_000;

/** Objectives by the name of the indicator. */
export type Objectives = Record<string, Objective>;

/** Times are milliseconds since the epoch. */
export interface ShadowDefinition {
  baseline: string;
  candidates: string[];
  /** Runs of the baseline that are copied at most. */
  maximumRuns: number;
  /** When to begin to copy; null for the start of the test. */
  from: number | null;
  /** Runs made before it are copied; null for no end. */
  until: number | null;
  objectives: Objectives;
}

export interface SwitchbackDefinition {
  baseline: string;
  candidate: string;
  unitMinutes: number;
  /** The instance of each unit, in order. */
  units: string[];
  seed: string;
  /** When unit 0 begins; null in a draft whose plan begins when it is started. */
  start: number | null;
  objectives: Objectives;
}

export function parseShadowDefinition({
  definition,
}: Pick<ExperimentsTable, 'definition'>): ShadowDefinition {
  return JSON.parse(definition) as ShadowDefinition;
}

export function parseSwitchbackDefinition({
  definition,
}: Pick<ExperimentsTable, 'definition'>): SwitchbackDefinition {
  return JSON.parse(definition) as SwitchbackDefinition;
}

/** What a shadow test that starts now says of the runs of its baseline. */
export function buildShadowRoute({ from, until }: ShadowDefinition, now: number): ShadowRoute {
  return { kind: 'shadow', from: Math.max(now, from ?? now), until };
}

/** What a switchback test whose plan has a start says of them. */
export function buildSwitchbackRoute(definition: SwitchbackDefinition, start: number): SwitchbackRoute {
  return { kind: 'switchback', start, unitMs: unitMsOf(definition), units: definition.units };
}

/** Length of a unit in whole milliseconds, as clocks and tables have them. */
function unitMsOf({ unitMinutes }: SwitchbackDefinition): number {
  return Math.round(unitMinutes * MINUTE_MS);
}

/** When the last unit is over; null while it is not known when the first begins. */
export function computePlanEnd(definition: SwitchbackDefinition): number | null {
  const { start, units } = definition;
  return start === null ? null : start + units.length * unitMsOf(definition);
}

/** How many units are over at the instant. */
export function countEndedUnits(definition: SwitchbackDefinition, at: number): number {
  const { start, units } = definition;
  if (start === null) return 0;
  return Math.max(0, Math.min(units.length, Math.floor((at - start) / unitMsOf(definition))));
}
