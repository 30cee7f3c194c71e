/** The values of the form of a new experiment, as texts, and the request that they make. */
import type { CallRequest } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { ExperimentType } from '../../ui/experiments/experiment-types.ts';

/** A rule of an acceptance test. */
export interface RuleDraft {
  field: string;
  statistic: string;
  operator: 'le' | 'lt' | 'ge' | 'gt';
  /** In percent of the control. */
  tolerance: string;
  usesBound: boolean;
}

/** Everything that any of the forms contains. Values survive a change of the type. */
export interface ExperimentDraft {
  name: string;
  id: string;
  inputSet: string;
  control: string;
  candidates: readonly string[];
  repetitions: string;
  /** JSON text: options by key. */
  optionSets: string;
  usesRacing: boolean;
  indicator: string;
  direction: 'minimize' | 'maximize' | 'none';
  /** In percent of the control. */
  margin: string;
  rules: readonly RuleDraft[];
  maximumRuns: string;
  /** In percent of the runs of the baseline. */
  sampleShare: string;
  units: string;
  unitMinutes: string;
  design: 'blocked' | 'independent' | 'regular';
  carryOverUnits: string;
  goodVersion: string;
  badVersion: string;
  /** In percent of the good version. */
  difference: string;
}

/** Returns a rule that compares the means of the indicator. */
export function createRule(field: string): RuleDraft {
  return { field, statistic: 'mean', operator: 'le', tolerance: '0', usesBound: false };
}

/** Returns the values with which the form opens. */
export function createDraft(choices: {
  instances: readonly string[];
  inputSets: readonly string[];
  versions: readonly string[];
}): ExperimentDraft {
  const [control = 'latest', ...others] = choices.instances;
  const candidate = others.findLast((id) => id !== 'latest') ?? others[0];
  return {
    name: '',
    id: '',
    inputSet: choices.inputSets[0] ?? '',
    control,
    candidates: candidate === undefined ? [] : [candidate],
    repetitions: '1',
    optionSets: '{\n  "fast": {"duration": "1"},\n  "slow": {"duration": "10"}\n}',
    usesRacing: false,
    indicator: 'result.value',
    direction: 'minimize',
    margin: '1',
    rules: [createRule('result.value')],
    maximumRuns: '100',
    sampleShare: '100',
    units: '20',
    unitMinutes: '60',
    design: 'blocked',
    carryOverUnits: '1',
    // Versions are listed newest first.
    goodVersion: choices.versions.at(-1) ?? '',
    badVersion: choices.versions[0] ?? '',
    difference: '5',
  };
}

/** Returns the id that a name suggests: lowercase letters, digits and hyphens. */
export function suggestId(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
}

type RequestBody<Id extends keyof Operations> =
  CallRequest<Operations[Id]> extends { body: infer Body } ? Body : never;

/** The operation that creates the experiment, with its body. */
export type ExperimentRequest =
  | { operation: 'createBatchExperiment'; body: RequestBody<'createBatchExperiment'> }
  | { operation: 'createAcceptanceTest'; body: RequestBody<'createAcceptanceTest'> }
  | { operation: 'createShadowTest'; body: RequestBody<'createShadowTest'> }
  | { operation: 'createSwitchbackTest'; body: RequestBody<'createSwitchbackTest'> }
  | { operation: 'createBisectExperiment'; body: RequestBody<'createBisectExperiment'> };

/** Returns the request of the form. Throws a SyntaxError if the option sets are not JSON. */
export function buildRequest(type: ExperimentType, draft: ExperimentDraft): ExperimentRequest {
  const named = { id: draft.id || suggestId(draft.name), name: draft.name.trim() };
  switch (type) {
    case 'batch':
    case 'scenario':
      return { operation: 'createBatchExperiment', body: { ...named, ...buildBatch(type, draft) } };
    case 'acceptance':
      return { operation: 'createAcceptanceTest', body: { ...named, ...buildAcceptance(draft) } };
    case 'shadow':
      return {
        operation: 'createShadowTest',
        body: {
          ...named,
          comparisons: { [draft.control]: [...draft.candidates] },
          termination_events: { maximum_runs: Number(draft.maximumRuns) },
          ...(draft.sampleShare !== '100' && { sample_share: readPercent(draft.sampleShare) }),
          objectives: buildObjectives(draft),
        },
      };
    case 'switchback':
      return { operation: 'createSwitchbackTest', body: { ...named, ...buildSwitchback(draft) } };
    case 'bisect':
      return {
        operation: 'createBisectExperiment',
        body: {
          ...named,
          input_set_id: draft.inputSet,
          instance_id: draft.control === 'latest' ? null : draft.control,
          indicator: draft.indicator,
          good_version_id: draft.goodVersion,
          bad_version_id: draft.badVersion,
          difference: { type: 'relative', value: readPercent(draft.difference) },
          direction: draft.direction === 'maximize' ? 'maximize' : 'minimize',
        },
      };
  }
}

/** Returns a share: `5` percent is 0.05, without the rounding error of a division. */
function readPercent(text: string): number {
  return Number((Number(text) / 100).toPrecision(12));
}

function buildObjectives({ indicator, direction, margin }: ExperimentDraft) {
  const isDefault = margin === '1' || margin === '';
  return {
    [indicator]: isDefault
      ? direction
      : { direction, margin: { type: 'relative' as const, value: readPercent(margin) } },
  };
}

function buildBatch(type: 'batch' | 'scenario', draft: ExperimentDraft) {
  return {
    ...(type === 'scenario' && { type, option_sets: readOptionSets(draft.optionSets) }),
    input_set_id: draft.inputSet,
    instance_ids: [draft.control, ...draft.candidates],
    ...(draft.repetitions !== '1' && { repetitions: Number(draft.repetitions) }),
    objectives: buildObjectives(draft),
    primary: draft.indicator,
    ...(type === 'scenario' && draft.usesRacing && { racing: {} }),
  };
}

/** Returns the option sets of the JSON text. The server says which key or option it refuses. */
export function readOptionSets(text: string): Record<string, Record<string, string>> {
  return JSON.parse(text);
}

function buildAcceptance(draft: ExperimentDraft) {
  return {
    control: { instance_id: draft.control },
    candidate: { instance_id: draft.candidates[0] ?? '' },
    input_set_id: draft.inputSet,
    ...(draft.repetitions !== '1' && { repetitions: Number(draft.repetitions) }),
    metrics: draft.rules.map((rule) => ({
      field: rule.field,
      statistic: rule.statistic,
      metric_type: 'direct-comparison' as const,
      ...(rule.usesBound && { hypothesis: 'non-inferiority' as const }),
      params: {
        operator: rule.operator,
        ...(Number(rule.tolerance) !== 0 && {
          tolerance: { type: 'relative' as const, value: readPercent(rule.tolerance) },
        }),
      },
    })),
  };
}

function buildSwitchback(draft: ExperimentDraft) {
  return {
    comparison: {
      baseline_instance_id: draft.control,
      candidate_instance_id: draft.candidates[0] ?? '',
    },
    generate_random_plan: {
      unit_duration_minutes: Number(draft.unitMinutes),
      units: Number(draft.units),
      design: draft.design,
      carry_over_units: Number(draft.carryOverUnits),
    },
    objectives: buildObjectives(draft),
  };
}
