/** The part of an experiment's definition that says how its sides are compared. Pure. */
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';

/** Stored as JSON with the experiment. A definition of an older release has only `objectives`. */
export interface ComparisonSettings {
  objectives: Objectives | null;
  /** The indicator that decides. Without it, every indicator of `objectives` decides. */
  primary?: string;
  /** Indicators that must not get worse. */
  guardrails?: string[];
  /** Properties by which inputs may resemble each other; equal contents always count as one. */
  cluster_by?: string[];
  /** Features of the inputs by which the results show the effect. */
  features?: string[];
}

/** Returns the clusterings to test by. Units are distinct contents, so `content` needs no test. */
export function listClusterings({ cluster_by }: Pick<ComparisonSettings, 'cluster_by'>): string[] {
  return (cluster_by ?? []).filter((name) => name !== 'content');
}
