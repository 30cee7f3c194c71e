/** The values of the form of a new experiment, as texts. */

import type { OptionItem } from '@switchyard/contract/applications/executables.ts';
import type { BatchRunCreate } from '@switchyard/contract/experiments/batch-plan.ts';
import { describeError } from '../../client/client.ts';
import { splitList } from '../../ui/forms/split-text.ts';
import { FIELDS, type FieldName, type FieldTexts } from './fields.ts';

export const OPERATORS = ['le', 'lt', 'ge', 'gt', 'eq', 'ne'] as const;
export const METRIC_TYPES = ['direct-comparison', 'difference-threshold', 'absolute-threshold'] as const;
export const DIRECTIONS = ['minimize', 'maximize', 'none'] as const;

/** A rule of an acceptance test. */
export interface RuleDraft {
  field: string;
  statistic: string;
  metricType: (typeof METRIC_TYPES)[number];
  operator: (typeof OPERATORS)[number];
  /** In percent of the control, or in the unit of the indicator. */
  tolerance: string;
  toleranceType: 'relative' | 'absolute';
  usesBound: boolean;
  /** The rule may be met where all inputs tie. */
  acceptsSame: boolean;
  /** Largest change of one input, in percent of the control; empty for unknown. */
  largestLoss: string;
}

/** An indicator that must not get worse. */
export interface GuardrailDraft {
  indicator: string;
  direction: 'minimize' | 'maximize';
}

/** Everything that any of the forms contains. Values survive a change of the type. */
export interface ExperimentDraft extends FieldTexts {
  name: string;
  id: string;
  description: string;
  inputSet: string;
  /** Ids of managed inputs in place of the input set, separated by commas. */
  inputIds: string;
  /** Id of an existing batch that an acceptance test evaluates; empty for a new one. */
  batch: string;
  /** JSON text: the runs one by one, in place of the sides; empty for none. */
  listedRuns: string;
  /** Ids of instances, or of ensembles behind `ensemble:`; the control is one too. */
  candidates: readonly string[];
  /** JSON text: options by key. */
  optionSets: string;
  usesRacing: boolean;
  indicator: string;
  direction: (typeof DIRECTIONS)[number];
  guardrails: readonly GuardrailDraft[];
  rules: readonly RuleDraft[];
}

/** Some values of the form. */
export type DraftValues = Partial<ExperimentDraft>;

/** Returns a rule that compares the means of the indicator. */
export function createRule(field: string): RuleDraft {
  return {
    field,
    statistic: 'mean',
    metricType: 'direct-comparison',
    operator: 'le',
    tolerance: '0',
    toleranceType: 'relative',
    usesBound: false,
    acceptsSame: false,
    largestLoss: '',
  };
}

/** Returns two sets of the first option with a number: its default, and twice that within its limits. */
function suggestOptionSets(options: readonly OptionItem[]): string {
  const option = options.find(
    ({ name, option_type: type }) => /^(?:int|float)$/.test(type ?? '') && !/seed/i.test(name),
  );
  if (!option) return '{\n  "one": {},\n  "two": {}\n}';
  const usual = Number(option.default ?? 1) || 1;
  const { min, max } = option.additional_attributes ?? {};
  const [low, high] = [min, max].map((limit) => (limit === undefined ? undefined : Number(limit)));
  const double = Math.max(Math.min(2 * usual, high ?? 2 * usual), low ?? -Infinity);
  const formatSet = (value: number) => JSON.stringify({ [option.name]: String(value) });
  return `{\n  "usual": ${formatSet(usual)},\n  "double": ${formatSet(double)}\n}`;
}

/** Returns the values with which the form opens. */
export function createDraft(choices: {
  instances: readonly string[];
  inputSets: readonly string[];
  versions: readonly string[];
  options: readonly OptionItem[];
}): ExperimentDraft {
  const [control = 'latest'] = choices.instances;
  const texts = Object.fromEntries(Object.entries(FIELDS).map(([name, { initial }]) => [name, initial]));
  return {
    ...(texts as Record<FieldName, string>),
    name: '',
    id: '',
    description: '',
    // One of several is a choice.
    inputSet: choices.inputSets.length === 1 ? (choices.inputSets[0] ?? '') : '',
    inputIds: '',
    batch: '',
    listedRuns: '',
    control,
    // Versions are listed newest first.
    goodVersion: choices.versions.at(-1) ?? '',
    badVersion: choices.versions[0] ?? '',
    // Nothing is preselected that starts work.
    candidates: [],
    optionSets: suggestOptionSets(choices.options),
    usesRacing: false,
    indicator: 'result.value',
    direction: 'minimize',
    marginType: 'relative',
    differenceType: 'relative',
    guardrails: [],
    rules: [createRule('result.value')],
  };
}

/** Marks the id of an ensemble among the sides; ids contain no colon. */
const ENSEMBLE_PREFIX = 'ensemble:';

/** Returns the side that an ensemble is. */
export function formatEnsembleSide(ensemble: string): string {
  return `${ENSEMBLE_PREFIX}${ensemble}`;
}

/** Returns the id of the ensemble that the side is; undefined for an instance. */
export function parseEnsembleSide(side: string): string | undefined {
  return side.startsWith(ENSEMBLE_PREFIX) ? side.slice(ENSEMBLE_PREFIX.length) : undefined;
}

/** Returns the one of the choices that the text is, or the first. */
export function parseChoice<Choice extends string>(choices: readonly Choice[], text: unknown): Choice {
  const [first] = choices;
  const found = choices.find((choice) => choice === text) ?? first;
  if (found === undefined) throw new Error('A field has at least one choice.');
  return found;
}

/** Returns the option sets of the JSON text. Throws a SyntaxError. The server says which key or option it refuses. */
export function readOptionSets(text: string): Record<string, Record<string, string>> {
  try {
    const sets: unknown = JSON.parse(text);
    return sets as Record<string, Record<string, string>>;
  } catch (error) {
    throw new SyntaxError(
      `The option sets are not JSON: ${describeError(error)}. Write an object such as {"fast": {"duration": "1"}}.`,
    );
  }
}

/** Returns the runs of the JSON text; undefined for an empty text. Throws a SyntaxError. */
export function readListedRuns({ listedRuns }: ExperimentDraft): BatchRunCreate[] | undefined {
  if (listedRuns.trim() === '') return undefined;
  const advice = 'Write a list such as [{"instance_id": "production", "input_id": "monday"}].';
  const runs = parseListedRuns(listedRuns, advice);
  if (!Array.isArray(runs)) throw new SyntaxError(`The listed runs are not a JSON list. ${advice}`);
  return runs;
}

function parseListedRuns(text: string, advice: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`The listed runs are not JSON: ${describeError(error)}. ${advice}`);
  }
}

/** Returns the number of option sets; 1 for a text that is not JSON. */
export function countOptionSets({ optionSets }: ExperimentDraft): number {
  try {
    return Math.max(Object.keys(readOptionSets(optionSets)).length, 1);
  } catch {
    return 1;
  }
}

/** Returns how often each side runs each input: once for each seed, or the repetitions. */
export function countRepetitions({ seeds, repetitions }: ExperimentDraft): number {
  return splitList(seeds).length || Number(repetitions);
}
