/** The part of an experiment's definition that says how its sides are compared. Pure. */
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';

/** Stored as JSON with the experiment. A definition of an older release has only `objectives`. */
export interface ComparisonSettings {
  objectives: Objectives | null;
  /** The indicator that decides. Without it, every indicator of `objectives` decides. */
  primary?: string;
  /** Indicators that must not get worse. */
  guardrails?: string[];
}
