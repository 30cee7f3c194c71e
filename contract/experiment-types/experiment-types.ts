/** The types of experiments, as addresses and people name them, in the order of lists and forms. */
import { acceptance } from './acceptance.ts';
import { batch } from './batch.ts';
import { bisect } from './bisect.ts';
import type { ExperimentDescriptor, FormField } from './descriptor.ts';
import { scenario } from './scenario.ts';
import { shadow } from './shadow.ts';
import { switchback } from './switchback.ts';

export const EXPERIMENT_TYPES = [
  'batch',
  'scenario',
  'acceptance',
  'shadow',
  'switchback',
  'bisect',
] as const;
export type ExperimentType = (typeof EXPERIMENT_TYPES)[number];

export const EXPERIMENTS = {
  batch,
  scenario,
  acceptance,
  shadow,
  switchback,
  bisect,
} satisfies Record<ExperimentType, ExperimentDescriptor>;

/** The resources of the API, one for batch experiments and scenario tests together. */
export type ExperimentKind = (typeof EXPERIMENTS)[ExperimentType]['kind'];
export const EXPERIMENT_KINDS: readonly ExperimentKind[] = [
  ...new Set(EXPERIMENT_TYPES.map((type) => EXPERIMENTS[type].kind)),
];

/** The types of a resource. */
export type TypeOfKind<Kind extends ExperimentKind> = {
  [Type in ExperimentType]: (typeof EXPERIMENTS)[Type]['kind'] extends Kind ? Type : never;
}[ExperimentType];

/** Returns the types of the resource. */
export function listTypesOfKind<Kind extends ExperimentKind>(kind: Kind): TypeOfKind<Kind>[] {
  return EXPERIMENT_TYPES.filter((type): type is TypeOfKind<Kind> => EXPERIMENTS[type].kind === kind);
}

type Fact = 'isLive' | 'canStop' | 'ownsRuns' | 'hasCandidates';

/** The types of which the fact is true. */
export type TypeWith<F extends Fact> = {
  [Type in ExperimentType]: (typeof EXPERIMENTS)[Type][F] extends true ? Type : never;
}[ExperimentType];

/** Returns whether the fact is true of the type. */
export function hasFact<F extends Fact>(type: ExperimentType, fact: F): type is TypeWith<F> {
  return EXPERIMENTS[type][fact];
}

/** Returns whether the runs of the type are those of callers, in production. */
export function servesCallers(type: ExperimentType): boolean {
  const descriptor: ExperimentDescriptor = EXPERIMENTS[type];
  return descriptor.servesCallers === true;
}

/** The types whose experiments own runs: an acceptance test is a view on one of the type batch. */
export type RunOwnerType = TypeWith<'ownsRuns'>;
export type RunOwnerKind = ExperimentKind & RunOwnerType;

/** Returns the types of which the fact is true. */
export function listTypesWith<F extends Fact>(fact: F): TypeWith<F>[] {
  return EXPERIMENT_TYPES.filter((type) => hasFact(type, fact));
}

export const RUN_OWNER_KINDS: readonly RunOwnerKind[] = EXPERIMENT_KINDS.filter((kind) =>
  hasFact(kind, 'ownsRuns'),
);

/** Returns whether the form of the type has the group of fields. */
export function hasField(type: ExperimentType, field: FormField): boolean {
  const fields: readonly FormField[] = EXPERIMENTS[type].fields;
  return fields.includes(field);
}

/** Returns the type that the text names, or undefined. */
export function parseExperimentType(text: unknown): ExperimentType | undefined {
  return EXPERIMENT_TYPES.find((type) => type === text);
}
