/**
 * What ensembles look like from outside: their definitions, and how the run of one came about. Their operations are in
 * ensembles.ts.
 */

import Type, { type Static } from 'typebox';
import {
  ENSEMBLE_RULES_MAX,
  ENSEMBLE_RUNS_MAX,
  NESTED_ID_CHARS_MAX,
  RULE_INDEX_MAX,
  RULE_PATH_CHARS_MAX,
} from '../limits.ts';
import {
  description,
  nameOrId,
  nullable,
  Options,
  optionalNullable,
  StringOptions,
  stringEnum,
  timestamp,
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

/** Ids that are unique within one definition. */
function subId(noun: string) {
  return Type.String({
    pattern: `^[A-Za-z0-9._-]{1,${NESTED_ID_CHARS_MAX}}$`,
    description: `Id of the ${noun}, each once: 1 to ${NESTED_ID_CHARS_MAX} letters, digits, ".", "_" and "-".`,
  });
}

const OBJECTIVES = ['minimize', 'maximize'] as const;
const TOLERANCE_TYPES = ['absolute', 'relative'] as const;

const Tolerance = Type.Object(
  {
    type: stringEnum(
      TOLERANCE_TYPES,
      'absolute: how far a value may be from the best; relative: the same as a part of the absolute value of the best, 0.05 for 5 %.',
    ),
    value: Type.Number({ minimum: 0, description: 'How far, 0 or more.' }),
  },
  { $id: 'EnsembleTolerance', description: 'How far from the best is as good.' },
);

const repetitions = Type.Integer({
  minimum: 1,
  maximum: ENSEMBLE_RUNS_MAX,
  description: `How many runs to make, 1 when nothing is said; all groups together at most ${ENSEMBLE_RUNS_MAX}.`,
});
const objective = stringEnum(OBJECTIVES, 'Which value is the best: the lowest or the highest.');
const index = Type.Integer({
  minimum: 0,
  maximum: RULE_INDEX_MAX,
  description: 'Its place among the rules, each once; the lowest comes first.',
});

const RunGroupCreate = Type.Object(
  {
    id: subId('run group'),
    instance_id: idReferenceSchema<InstanceId>('The instance its runs are made on.'),
    options: optionalNullable(Options),
    repetitions: optionalNullable(repetitions),
  },
  { $id: 'RunGroupCreate', additionalProperties: false, description: 'Runs that are made alike.' },
);

const EnsembleRuleCreate = Type.Object(
  {
    id: subId('rule'),
    statistics_path: Type.String({
      minLength: 1,
      maxLength: RULE_PATH_CHARS_MAX,
      pattern: NO_NUL_PATTERN,
      description: 'The indicator to compare, such as `result.value`, with or without `$.` before it.',
    }),
    objective,
    tolerance: optionalNullable(Tolerance),
    index,
  },
  {
    $id: 'EnsembleRuleCreate',
    additionalProperties: false,
    description: 'What is better. Without a tolerance only equal values are as good.',
  },
);

export const EnsembleCreate = Type.Object(
  {
    id: newIdSchema<EnsembleId>('ensemble'),
    name: nameOrId('ensemble'),
    description: optionalNullable(description('ensemble')),
    run_groups: Type.Array(RunGroupCreate, {
      minItems: 1,
      maxItems: ENSEMBLE_RUNS_MAX,
      description: `Which runs to make, at most ${ENSEMBLE_RUNS_MAX} in all.`,
    }),
    rules: Type.Array(EnsembleRuleCreate, {
      minItems: 1,
      maxItems: ENSEMBLE_RULES_MAX,
      description: `How the best run is found: 1 to ${ENSEMBLE_RULES_MAX} rules.`,
    }),
  },
  { $id: 'EnsembleCreate', additionalProperties: false, description: 'The ensemble to define.' },
);
export type EnsembleCreate = Static<typeof EnsembleCreate>;

export const EnsembleUpdate = Type.Object(
  { name: optionalNullable(nameOrId('ensemble')), description: optionalNullable(description('ensemble')) },
  { $id: 'EnsembleUpdate', description: 'What can be changed; other fields are ignored.' },
);

const RunGroup = Type.Object(
  {
    id: Type.String({ description: 'Id of the run group.' }),
    instance_id: idSchema<InstanceId>('The instance its runs are made on.'),
    options: StringOptions,
    repetitions: Type.Integer({ description: 'How many runs are made of it.' }),
  },
  { $id: 'RunGroup', description: 'Runs that are made alike.' },
);
export type RunGroup = Static<typeof RunGroup>;

const EnsembleRule = Type.Object(
  {
    id: Type.String({ description: 'Id of the rule.' }),
    statistics_path: Type.String({ description: 'The indicator it compares.' }),
    objective,
    tolerance: Tolerance,
    index: Type.Integer({ description: 'Its place among the rules.' }),
  },
  { $id: 'EnsembleRule', description: 'What is better.' },
);
export type EnsembleRule = Static<typeof EnsembleRule>;

export const Ensemble = Type.Object(
  {
    id: idSchema<EnsembleId>('Id of the ensemble.'),
    application_id: idSchema<ApplicationId>('Its application.'),
    name: Type.String({ description: 'Name of the ensemble.' }),
    description: Type.String({ description: 'Description, empty when none was given.' }),
    run_groups: Type.Array(RunGroup, { description: 'The groups, in the order given.' }),
    rules: Type.Array(EnsembleRule, { description: 'The rules, in the order given.' }),
    created_at: timestamp('When it was made'),
    updated_at: timestamp('When it was last changed'),
  },
  { $id: 'Ensemble', description: 'The definition of an ensemble.' },
);
export type Ensemble = Static<typeof Ensemble>;

const ids = (what: string) => Type.Array(Type.String(), { description: what });

const EnsembleDecision = Type.Object(
  {
    rule_id: Type.String({ description: 'The rule.' }),
    index: Type.Integer({ description: 'Its index.' }),
    statistics_path: Type.String({ description: 'The indicator it compared.' }),
    objective,
    tolerance: Tolerance,
    best: nullable(Type.Number({ description: 'The best value; null when there is none.' })),
    considered: ids('The runs that the rules before had left, in the order of groups and repetitions.'),
    kept: ids('Those as good as the best.'),
    dropped: Type.Array(
      Type.Object(
        {
          run_id: Type.String({ description: 'The run.' }),
          value: nullable(Type.Number({ description: 'Its value; null when that is no number.' })),
          why: Type.String({ description: 'Why it was dropped.' }),
        },
        { description: 'A run that went out.' },
      ),
      { description: 'Those that went out, and why.' },
    ),
    skipped: Type.Optional(
      Type.String({ description: 'Why the rule dropped nothing, when no run had a number; else absent.' }),
    ),
  },
  { $id: 'EnsembleDecision', description: 'What one rule did.' },
);
export type EnsembleDecision = Static<typeof EnsembleDecision>;

const EnsembleLeftOut = Type.Object(
  {
    run_id: nullable(Type.String({ description: 'The run; null for one that is not there.' })),
    run_group_id: Type.String({ description: 'Its run group.' }),
    repetition: Type.Integer({ description: 'Which of the group, from 0.' }),
    why: Type.String({ description: 'Why no rule looked at it.' }),
  },
  { $id: 'EnsembleLeftOut', description: 'A run that no rule looked at.' },
);
export type EnsembleLeftOut = Static<typeof EnsembleLeftOut>;

const RulesResult = Type.Object(
  {
    best_run_id: nullable(Type.String({ description: 'The run whose output it has; null for none.' })),
    decisions: Type.Array(EnsembleDecision, { description: 'What each rule did, in their order.' }),
    left_out: Type.Array(EnsembleLeftOut, {
      description: 'Runs that did not succeed, or are not there.',
    }),
  },
  { $id: 'EnsembleRulesResult', description: 'How the best run was found.' },
);
export type RulesResult = Static<typeof RulesResult>;

const ChildRun = Type.Object(
  {
    id: idSchema<RunId>('Id of the run.'),
    run_group_id: Type.String({ description: 'Its run group.' }),
    repetition: Type.Integer({ description: 'Which of the group, from 0.' }),
    application_instance_id: Type.String({ description: 'The instance it was made on.' }),
    application_version_id: Type.String({ description: 'The version it ran; empty for `latest`.' }),
    status_v2: stringEnum(RUN_STATUSES_V2, 'The status of the run.'),
    error: Type.String({ description: 'Why it failed or was canceled, else empty.' }),
  },
  { $id: 'EnsembleChildRun', description: 'A run that is part of the run of an ensemble.' },
);
export type ChildRun = Static<typeof ChildRun>;

export const EnsembleRun = Type.Object(
  {
    id: idSchema<RunId>('Id of the run.'),
    account_id: idSchema<AccountId>('Its account.'),
    application_id: idSchema<ApplicationId>('Its application.'),
    status_v2: stringEnum(RUN_STATUSES_V2, 'The status of the run.'),
    error: Type.String({ description: 'Why it failed or was canceled, else empty.' }),
    evaluation_type: stringEnum(['rules'], 'How the best run is found.'),
    definition_id: idSchema<EnsembleId>('The definition it follows.'),
    requested_runs: Type.Integer({ description: 'Runs it wants.' }),
    child_runs: Type.Array(ChildRun, {
      description: 'Its runs, as far as they were made and are there.',
    }),
    rules_result: Type.Optional(RulesResult),
  },
  {
    $id: 'EnsembleRun',
    description: 'How the run of an ensemble came about. `rules_result` is there once it has ended.',
  },
);
export type EnsembleRun = Static<typeof EnsembleRun>;
