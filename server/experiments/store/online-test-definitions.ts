/** The `definition` column of shadow and switchback tests, with their routes and the times of a plan. Pure. */
import type { ShadowRoute, SwitchbackRoute } from '../../runs/store/routes.ts';
import type { DesignKind, SwitchbackDesign } from '../statistics/switchback/design.ts';
import { type ComparisonSettings, listClusterings } from './comparison-settings.ts';
import type { ExperimentsTable } from './schema.ts';

const MINUTE_MS = 60_000;

/** The definition of a shadow test. Times are milliseconds since the epoch. */
export interface ShadowDefinition extends ComparisonSettings {
  baseline: string;
  candidates: string[];
  /** The maximum number of copied runs of the baseline. */
  maximumRuns: number;
  /** The time of the first copy; null for the start of the test. */
  from: number | null;
  /** Runs created before this time are copied; null for no end. */
  until: number | null;
  /** The share of the runs that is copied, drawn at random; absent in a test of an older release, which copies all. */
  sampleShare?: number;
  /** Groups of originals that may resemble each other; absent in a test of an older release: by caller. */
  clusterBy?: string[];
}

/** The clusterings of a test whose request names none. */
export const DEFAULT_CLUSTERINGS: string[] = ['caller'];

/** Returns the clusterings of the originals to test by. */
export function listOriginalClusterings({
  clusterBy = DEFAULT_CLUSTERINGS,
}: Pick<ShadowDefinition, 'clusterBy'>): string[] {
  return listClusterings({ cluster_by: clusterBy });
}

/** The definition of a switchback test. */
export interface SwitchbackDefinition extends ComparisonSettings {
  baseline: string;
  candidate: string;
  unitMinutes: number;
  /** The instance of each unit, in order. */
  units: string[];
  /** How the plan was drawn; absent in a plan of an older release: independent coins, and no carry-over. */
  design?: { kind: DesignKind; carryOverUnits: number };
  /** Runs that arrive within this time after the start of a unit are left out; the default is 0. */
  burnInMinutes?: number;
  /** Number of units that the design needs for a verdict, if this plan cannot give one; null for more than the limit. */
  unitsForVerdict?: number | null;
  /** Other plans for the same two instances since one of theirs ran to its end: see plan-draws.ts. */
  redraws?: number;
  /** The seed of the plan. */
  seed: string;
  /** The start of unit 0 in milliseconds since the epoch; null in a draft whose plan begins with the start of the test. */
  start: number | null;
}

/** Returns the design by which the plan was drawn. */
export function readSwitchbackDesign({ design, units, unitMinutes }: SwitchbackDefinition): SwitchbackDesign {
  const { kind, carryOverUnits } = design ?? { kind: 'independent', carryOverUnits: 0 };
  return { kind, carryOverUnits, units: units.length, unitMinutes };
}

/** Parses the definition column of a shadow test. */
export function parseShadowDefinition({
  definition,
}: Pick<ExperimentsTable, 'definition'>): ShadowDefinition {
  return JSON.parse(definition) as ShadowDefinition;
}

/** Parses the definition column of a switchback test. */
export function parseSwitchbackDefinition({
  definition,
}: Pick<ExperimentsTable, 'definition'>): SwitchbackDefinition {
  return JSON.parse(definition) as SwitchbackDefinition;
}

/** Builds the route of a shadow test that starts now; `seed` draws the sample. */
export function buildShadowRoute(
  { from, until, sampleShare = 1 }: ShadowDefinition,
  now: number,
  seed: string,
): ShadowRoute {
  return {
    kind: 'shadow',
    from: Math.max(now, from ?? now),
    until,
    ...(sampleShare < 1 ? { sample: { share: sampleShare, seed } } : {}),
  };
}

/** Builds the route of a switchback test whose plan begins at `start`. */
export function buildSwitchbackRoute(definition: SwitchbackDefinition, start: number): SwitchbackRoute {
  return { kind: 'switchback', start, unitMs: computeUnitMs(definition), units: definition.units };
}

/** Returns the length of a unit in whole milliseconds, the unit of clocks and tables. */
function computeUnitMs({ unitMinutes }: SwitchbackDefinition): number {
  return Math.round(unitMinutes * MINUTE_MS);
}

/** Returns the end of the last unit in milliseconds since the epoch; null when the plan has no start yet. */
export function computePlanEnd(definition: SwitchbackDefinition): number | null {
  const { start, units } = definition;
  return start === null ? null : start + units.length * computeUnitMs(definition);
}

/** Counts the units that have ended at the time. */
export function countEndedUnits(definition: SwitchbackDefinition, at: number): number {
  const { start, units } = definition;
  if (start === null) return 0;
  return Math.max(0, Math.min(units.length, Math.floor((at - start) / computeUnitMs(definition))));
}
