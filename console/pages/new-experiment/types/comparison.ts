/** The indicators of an experiment: the primary one with its settings, and the guardrails. */
import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { Objectives } from '@switchyard/contract/experiments/experiment-settings.ts';
import type { DraftValues, ExperimentDraft } from '../draft.ts';
import { buildFields, type FieldName, GROUPS, readFields } from '../fields.ts';

/** The groups of settings of an objective. */
export const OBJECTIVE_GROUPS = ['comparison', 'ties', 'failureMargin'] as const;

const listSettings = (type: ExperimentType): FieldName[] => [
  'margin',
  ...OBJECTIVE_GROUPS.filter((group) => hasField(type, group)).flatMap((group) => GROUPS[group] ?? []),
];

/** Returns the objectives, the primary indicator and the guardrails. A direction alone is a text. */
export function buildComparison(type: ExperimentType, draft: ExperimentDraft) {
  const { indicator, direction, guardrails, margin } = draft;
  const settings = buildFields(
    draft,
    listSettings(type).filter((name) => name !== 'margin' || margin !== ''),
  );
  const watched = guardrails.filter((guardrail) => guardrail.indicator !== indicator);
  return {
    objectives: {
      ...Object.fromEntries(watched.map((guardrail) => [guardrail.indicator, guardrail.direction])),
      [indicator]: Object.keys(settings).length === 0 ? direction : { direction, ...settings },
    },
    primary: indicator,
    ...(watched.length > 0 && { guardrails: watched.map((guardrail) => guardrail.indicator) }),
  };
}

/** The fields of an experiment that compares indicators. */
export interface ComparedExperiment {
  objectives?: Objectives | undefined;
  primary?: string | undefined;
  guardrails?: readonly string[] | undefined;
}

/** Returns the primary indicator with its settings, and the guardrails. */
export function readComparison(
  type: ExperimentType,
  { objectives = {}, primary, guardrails = [] }: ComparedExperiment,
): DraftValues {
  const indicator = primary ?? Object.keys(objectives)[0];
  if (indicator === undefined) return {};
  const objective = objectives[indicator] ?? 'none';
  const settings = typeof objective === 'string' ? { direction: objective } : objective;
  return {
    indicator,
    direction: settings.direction ?? 'none',
    ...readFields(settings, listSettings(type)),
    guardrails: guardrails.map((name) => {
      const guarded = objectives[name];
      const direction = typeof guarded === 'object' ? guarded.direction : guarded;
      return { indicator: name, direction: direction === 'maximize' ? 'maximize' : 'minimize' };
    }),
  };
}
