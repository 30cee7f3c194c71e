/**
 * Schemas of ensembles: their definitions, and the decisions of an ensemble run. Their operations are in ensembles.ts.
 */
import Type, { type Static } from 'typebox';
import {
  ENSEMBLE_RULES_MAX,
  ENSEMBLE_RUNS_MAX,
  NESTED_ID_CHARS_MAX,
  RULE_INDEX_MAX,
  RULE_PATH_CHARS_MAX,
} from '../limits.ts';
import { conditionFields } from '../schemas/conditional-writes.ts';
import {
  descriptionSchema,
  nameOrIdSchema,
  nullable,
  Options,
  optionalNullable,
  StringOptions,
  stringEnum,
  timestampSchema,
} from '../schemas/field-schemas.ts';
import {
  type AccountId,
  type ApplicationId,
  type EnsembleId,
  type InstanceId,
  idReferenceSchema,
  idSchema,
  NO_NUL_PATTERN,
  newIdSchema,
  type RunId,
} from '../schemas/ids.ts';
import { RUN_STATUSES_V2 } from '../states.ts';

/** Returns a schema for ids that are unique within one definition. */
function nestedIdSchema(noun: string) {
  return Type.String({
    pattern: `^[A-Za-z0-9._-]{1,${NESTED_ID_CHARS_MAX}}$`,
    description: `Id of the ${noun}, unique within the ensemble: 1 to ${NESTED_ID_CHARS_MAX} letters, digits, ".", "_" and "-".`,
  });
}

const OBJECTIVES = ['minimize', 'maximize'] as const;
const TOLERANCE_TYPES = ['absolute', 'relative'] as const;

const Tolerance = Type.Object(
  {
    type: stringEnum(
      TOLERANCE_TYPES,
      'absolute: the largest difference from the best value. relative: the same as a share of the absolute best value, 0.05 for 5 %.',
    ),
    value: Type.Number({ minimum: 0, description: 'Largest difference, 0 or more.' }),
  },
  { $id: 'EnsembleTolerance', description: 'Largest difference from the best value that counts as equal.' },
);

const repetitions = Type.Integer({
  minimum: 1,
  maximum: ENSEMBLE_RUNS_MAX,
  description: `Number of runs in the group; the default is 1. All groups together have at most ${ENSEMBLE_RUNS_MAX}.`,
});
const objective = stringEnum(OBJECTIVES, 'Direction of the best value: lowest or highest.');
const index = Type.Integer({
  minimum: 0,
  maximum: RULE_INDEX_MAX,
  description: 'Position among the rules, unique; the lowest comes first.',
});

const RunGroupCreate = Type.Object(
  {
    id: nestedIdSchema('run group'),
    instance_id: idReferenceSchema<InstanceId>('The instance of its runs.'),
    options: optionalNullable(Options),
    repetitions: optionalNullable(repetitions),
  },
  {
    $id: 'RunGroupCreate',
    additionalProperties: false,
    description: 'A group of runs with the same settings.',
  },
);

const EnsembleRuleCreate = Type.Object(
  {
    id: nestedIdSchema('rule'),
    statistics_path: Type.String({
      minLength: 1,
      maxLength: RULE_PATH_CHARS_MAX,
      pattern: NO_NUL_PATTERN,
      description: 'The indicator to compare, such as `result.value`, with or without the prefix `$.`.',
    }),
    objective,
    tolerance: optionalNullable(Tolerance),
    index,
  },
  {
    $id: 'EnsembleRuleCreate',
    additionalProperties: false,
    description: 'A rule that selects the best runs. Without a tolerance, only equal values tie.',
  },
);

export const EnsembleCreate = Type.Object(
  {
    id: newIdSchema<EnsembleId>('ensemble'),
    name: nameOrIdSchema('ensemble'),
    description: optionalNullable(descriptionSchema('ensemble')),
    run_groups: Type.Array(RunGroupCreate, {
      minItems: 1,
      maxItems: ENSEMBLE_RUNS_MAX,
      description: `The groups of runs to create, at most ${ENSEMBLE_RUNS_MAX} runs in all.`,
    }),
    rules: optionalNullable(
      Type.Array(EnsembleRuleCreate, {
        minItems: 1,
        maxItems: ENSEMBLE_RULES_MAX,
        description: `Rules that select the best run, 1 to ${ENSEMBLE_RULES_MAX}. The default is the objective of the application.`,
      }),
    ),
  },
  { $id: 'EnsembleCreate', additionalProperties: false, description: 'The ensemble to create.' },
);
export type EnsembleCreate = Static<typeof EnsembleCreate>;

export const EnsembleUpdate = Type.Object(
  {
    name: optionalNullable(nameOrIdSchema('ensemble')),
    description: optionalNullable(descriptionSchema('ensemble')),
    ...conditionFields,
  },
  { $id: 'EnsembleUpdate', description: 'The fields to change. Others may have their present values.' },
);

export const RunGroup = Type.Object(
  {
    id: Type.String({ description: 'Id of the run group.' }),
    instance_id: idSchema<InstanceId>('The instance of its runs.'),
    options: StringOptions,
    repetitions: Type.Integer({ description: 'Number of runs in the group.' }),
  },
  { $id: 'RunGroup', description: 'A group of runs with the same settings.' },
);
export type RunGroup = Static<typeof RunGroup>;

export const EnsembleRule = Type.Object(
  {
    id: Type.String({ description: 'Id of the rule.' }),
    statistics_path: Type.String({ description: 'The compared indicator.' }),
    objective,
    tolerance: Tolerance,
    index: Type.Integer({ description: 'Position among the rules.' }),
  },
  { $id: 'EnsembleRule', description: 'A rule that selects the best runs.' },
);
export type EnsembleRule = Static<typeof EnsembleRule>;

export const Ensemble = Type.Object(
  {
    id: idSchema<EnsembleId>('Id of the ensemble.'),
    application_id: idSchema<ApplicationId>('Id of the application.'),
    name: Type.String({ description: 'Name of the ensemble.' }),
    description: Type.String({ description: 'Description; empty by default.' }),
    run_groups: Type.Array(RunGroup, { description: 'The groups, in the order given.' }),
    rules: Type.Array(EnsembleRule, { description: 'The rules, in the order given.' }),
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'Ensemble', description: 'The definition of an ensemble.' },
);
export type Ensemble = Static<typeof Ensemble>;

const ids = (description: string) => Type.Array(Type.String(), { description });

const EnsembleDecision = Type.Object(
  {
    rule_id: Type.String({ description: 'Id of the rule.' }),
    index: Type.Integer({ description: 'Position of the rule.' }),
    statistics_path: Type.String({ description: 'The compared indicator.' }),
    objective,
    tolerance: Tolerance,
    best: nullable(Type.Number({ description: 'The best value; null if there is none.' })),
    considered: ids('The runs that the previous rules kept, in the order of groups and repetitions.'),
    kept: ids('The runs that tie with the best value.'),
    dropped: Type.Array(
      Type.Object(
        {
          run_id: Type.String({ description: 'The run.' }),
          value: nullable(Type.Number({ description: 'Value of the run; null if it is not a number.' })),
          why: Type.String({ description: 'Why the rule dropped it.' }),
        },
        { description: 'A dropped run.' },
      ),
      { description: 'The dropped runs, with the reason.' },
    ),
    skipped: Type.Optional(
      Type.String({
        description: 'Why the rule dropped no run although no run had a number. Absent otherwise.',
      }),
    ),
  },
  { $id: 'EnsembleDecision', description: 'The decision of one rule.' },
);
export type EnsembleDecision = Static<typeof EnsembleDecision>;

const EnsembleLeftOut = Type.Object(
  {
    run_id: nullable(Type.String({ description: 'Id of the run; null if it does not exist.' })),
    run_group_id: Type.String({ description: 'Id of the run group.' }),
    repetition: Type.Integer({ description: 'Number of the run in its group, from 0.' }),
    why: Type.String({ description: 'Why the rules did not consider it.' }),
  },
  { $id: 'EnsembleLeftOut', description: 'A run that the rules did not consider.' },
);
export type EnsembleLeftOut = Static<typeof EnsembleLeftOut>;

const number = (description: string) => Type.Number({ description });
const integer = (description: string) => Type.Integer({ description });
const groupId = Type.String({ description: 'Id of the run group.' });

const EnsembleGain = Type.Object(
  {
    statistics_path: Type.String({ description: 'The indicator of the first rule.' }),
    objective,
    value: number('Value of the best run.'),
    best_group: Type.Object(
      { run_group_id: groupId, mean: number('Mean value of one of its runs.') },
      {
        description:
          'The best single group: the one with the smallest share of failed runs, and of those the one with the best mean.',
      },
    ),
    improvement: number(
      'How much better the best run is than a run of the best single group on average; negative for worse.',
    ),
    relative_improvement: nullable(number('The same as a share of that mean; null if it is 0.')),
    groups: Type.Array(
      Type.Object(
        {
          run_group_id: groupId,
          runs: integer('Runs that ended; canceled and deleted runs do not count.'),
          failed: integer('Runs that failed, could not be created, or have no number.'),
          mean: nullable(number('Mean of its values; null without one.')),
          best: nullable(number('Its best value; null without one.')),
        },
        { description: 'A run group.' },
      ),
      { description: 'The groups, in the order of the definition.' },
    ),
    best_of_k: Type.Array(
      Type.Object(
        {
          k: integer('Number of runs.'),
          expected: number('Expected best value of k of these runs, where any succeeds.'),
          solved_share: number('Share of all choices of k runs in which any succeeds.'),
        },
        { description: 'The best of k runs.' },
      ),
      { description: 'The best of k runs, for each k up to the number of runs.' },
    ),
  },
  {
    $id: 'EnsembleGain',
    description:
      'Gain of the ensemble over its best single group, and the best of fewer runs. Absent when the best run has no number of the indicator of the first rule. Beyond the specification.',
  },
);
export type EnsembleGain = Static<typeof EnsembleGain>;

const EnsembleUsage = Type.Object(
  {
    started_at: timestampSchema('Time at which its first child run started'),
    wall_seconds: number('Seconds from that start to the end of its last child run.'),
    total_seconds: number(
      'Seconds for which the apps of all child runs ran, failed and canceled ones included.',
    ),
    has_waited: Type.Boolean({
      description: 'True if a child run started after another one had ended, as for lack of free slots.',
    }),
  },
  {
    $id: 'EnsembleUsage',
    description:
      'Duration and cost of the ensemble. Absent if no child run started. Deleted child runs do not count. Beyond the specification.',
  },
);
export type EnsembleUsage = Static<typeof EnsembleUsage>;

export const RulesResult = Type.Object(
  {
    best_run_id: nullable(
      Type.String({ description: 'The run whose output the ensemble run returns; null for none.' }),
    ),
    decisions: Type.Array(EnsembleDecision, { description: 'The decision of each rule, in order.' }),
    left_out: Type.Array(EnsembleLeftOut, {
      description: 'Runs that did not succeed, or do not exist.',
    }),
    gain: Type.Optional(EnsembleGain),
    usage: Type.Optional(EnsembleUsage),
  },
  { $id: 'EnsembleRulesResult', description: 'Selection of the best run.' },
);
export type RulesResult = Static<typeof RulesResult>;

const ChildRun = Type.Object(
  {
    id: idSchema<RunId>('Id of the run.'),
    run_group_id: Type.String({ description: 'Id of the run group.' }),
    repetition: Type.Integer({ description: 'Number of the run in its group, from 0.' }),
    application_instance_id: Type.String({ description: 'Id of the instance.' }),
    application_version_id: Type.String({ description: 'Version of the run; empty for `latest`.' }),
    status_v2: stringEnum(RUN_STATUSES_V2, 'The status of the run.'),
    error: Type.String({ description: 'Why it failed or was canceled; empty otherwise.' }),
  },
  { $id: 'EnsembleChildRun', description: 'A child run of an ensemble run.' },
);
export type ChildRun = Static<typeof ChildRun>;

export const EnsembleRun = Type.Object(
  {
    id: idSchema<RunId>('Id of the run.'),
    account_id: idSchema<AccountId>('Id of the account.'),
    application_id: idSchema<ApplicationId>('Id of the application.'),
    status_v2: stringEnum(RUN_STATUSES_V2, 'The status of the run.'),
    error: Type.String({ description: 'Why it failed or was canceled; empty otherwise.' }),
    evaluation_type: stringEnum(['rules'], 'Method that selects the best run.'),
    definition_id: idSchema<EnsembleId>('Id of the ensemble definition.'),
    requested_runs: Type.Integer({ description: 'Number of requested runs.' }),
    child_runs: Type.Array(ChildRun, {
      description: 'The child runs that were created and still exist.',
    }),
    rules_result: Type.Optional(RulesResult),
  },
  {
    $id: 'EnsembleRun',
    description:
      'The child runs and decisions of an ensemble run. `rules_result` is present once it has ended.',
  },
);
export type EnsembleRun = Static<typeof EnsembleRun>;
