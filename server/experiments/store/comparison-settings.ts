/** The part of an experiment's definition that says how its sides are compared. Pure. */
import { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';
import { nullable } from '@switchyard/contract/schemas/field-schemas.ts';
import Type, { type Static } from 'typebox';

/** Stored as JSON with the experiment. */
export const ComparisonSettings = Type.Object({
  objectives: nullable(Objectives),
  /** The indicator that decides. Without it, every indicator of `objectives` decides. */
  primary: Type.Optional(Type.String()),
  /** Indicators that must not get worse. */
  guardrails: Type.Optional(Type.Array(Type.String())),
  /** Properties by which inputs may resemble each other; equal contents always count as one. */
  cluster_by: Type.Optional(Type.Array(Type.String())),
  /** Features of the inputs by which the results show the effect. */
  features: Type.Optional(Type.Array(Type.String())),
});
export type ComparisonSettings = Static<typeof ComparisonSettings>;

/** The settings that all runs of an experiment share. Absent in a test on live runs. */
export const RunSettings = Type.Object({
  priority: Type.Optional(Type.Number()),
  /** In seconds. */
  max_duration: Type.Optional(Type.Number()),
});
export type RunSettings = Static<typeof RunSettings>;

/** Returns the clusterings to test by. Units are distinct contents, so `content` needs no test. */
export function listClusterings({ cluster_by }: Pick<ComparisonSettings, 'cluster_by'>): string[] {
  return (cluster_by ?? []).filter((name) => name !== 'content');
}
