/** The `definition` column of shadow and switchback tests, with their routes and the times of a plan. Pure. */
import Type, { type Static } from 'typebox';
import { parseColumn } from '../../platform/database/parse-column.ts';
import type { ShadowRoute, SwitchbackRoute } from '../../runs/store/routes.ts';
import { DesignKind, type SwitchbackDesign } from '../statistics/switchback/design.ts';
import { ComparisonSettings, listClusterings } from './comparison-settings.ts';

const MINUTE_MS = 60_000;

/** The definition of a shadow test. Times are milliseconds since the epoch. */
const ShadowDefinition = Type.Object({
  ...ComparisonSettings.properties,
  baseline: Type.String(),
  candidates: Type.Array(Type.String()),
  /** The maximum number of copied runs of the baseline. */
  maximumRuns: Type.Number(),
  /** The time of the first copy; null for the start of the test. */
  from: Type.Union([Type.Number(), Type.Null()]),
  /** Runs created before this time are copied; null for no end. */
  until: Type.Union([Type.Number(), Type.Null()]),
  /** The share of the runs that is copied, drawn at random. */
  sampleShare: Type.Number(),
  /** Groups of originals that may resemble each other. */
  clusterBy: Type.Array(Type.String()),
});
export type ShadowDefinition = Static<typeof ShadowDefinition>;

export const parseShadowDefinition = parseColumn('experiments', 'uid', 'definition', ShadowDefinition);

/** The clusterings of a test whose request names none. */
export const DEFAULT_CLUSTERINGS: string[] = ['caller'];

/** Returns the clusterings of the originals to test by. */
export function listOriginalClusterings({ clusterBy }: Pick<ShadowDefinition, 'clusterBy'>): string[] {
  return listClusterings({ cluster_by: clusterBy });
}

/** Returns true for the clusterings of a test whose request names none. */
export function hasDefaultClusterings({ clusterBy }: Pick<ShadowDefinition, 'clusterBy'>): boolean {
  return String(clusterBy) === String(DEFAULT_CLUSTERINGS);
}

/** The definition of a switchback test. */
const SwitchbackDefinition = Type.Object({
  ...ComparisonSettings.properties,
  baseline: Type.String(),
  candidate: Type.String(),
  unitMinutes: Type.Number(),
  /** The instance of each unit, in order. */
  units: Type.Array(Type.String()),
  /** How the plan was drawn. */
  design: Type.Object({ kind: DesignKind, carryOverUnits: Type.Number() }),
  /** Runs that arrive within this time after the start of a unit are left out; the default is 0. */
  burnInMinutes: Type.Optional(Type.Number()),
  /** Number of units that the design needs for a verdict, if this plan cannot give one; null for more than the limit. */
  unitsForVerdict: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  /** Other plans for the same two instances since one of theirs ran to its end: see plan-draws.ts. */
  redraws: Type.Optional(Type.Number()),
  /** The seed of the plan. */
  seed: Type.String(),
  /** The start of unit 0 in milliseconds since the epoch; null in a draft whose plan begins with the start of the test. */
  start: Type.Union([Type.Number(), Type.Null()]),
});
export type SwitchbackDefinition = Static<typeof SwitchbackDefinition>;

export const parseSwitchbackDefinition = parseColumn(
  'experiments',
  'uid',
  'definition',
  SwitchbackDefinition,
);

/** Returns the design by which the plan was drawn. */
export function readSwitchbackDesign({ design, units, unitMinutes }: SwitchbackDefinition): SwitchbackDesign {
  return { ...design, units: units.length, unitMinutes };
}

/** Builds the route of a shadow test that starts now; `seed` draws the sample. */
export function buildShadowRoute(
  { from, until, sampleShare }: ShadowDefinition,
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
