/** Runs in the lists of experiments: the fields of any list, and the run's identity within the experiment. */
import Type, { type Static } from 'typebox';
import {
  FAILURES_EMBEDDED_MAX,
  PRIORITY_MAX,
  PRIORITY_MIN,
  REFUSED_RUNS_EMBEDDED_MAX,
  WORKER_SLOTS_MAX,
} from '../limits.ts';
import { Run } from '../runs/run-schemas.ts';
import { countSchema, MaxDuration, nullable, optionalNullable } from '../schemas/field-schemas.ts';
import { ensembleIdSchema } from './experiment-results.ts';

export const StartConditions = Type.Object(
  {
    host: Type.String({ description: 'Id of the worker host, by its data folder.' }),
    concurrent_runs: countSchema('Runs on that worker at that time, with this one.', {
      max: WORKER_SLOTS_MAX,
    }),
    load: Type.Number({ description: 'Load average of the host over one minute; 0 where it has none.' }),
  },
  {
    $id: 'StartConditions',
    description:
      'Conditions of the host when the app of a run started; of an ensemble run, when its first child run started.',
  },
);
export type StartConditions = Static<typeof StartConditions>;

/** Identity of a run within its experiment. The fields are always present, and null without a value. */
const identityFields = {
  option_set: nullable(Type.String({ description: 'Key of the option set; null for none.' })),
  scenario_id: nullable(Type.String({ description: 'Id of the scenario; null for none.' })),
  repetition: nullable(
    Type.Integer({
      description:
        'Number of the run among those with the same input and options, from 0. It is null for a run that joined the experiment, and in shadow and switchback tests.',
    }),
  ),
  input_set_id: nullable(Type.String({ description: 'The input set of the input; null for none.' })),
};

export const ExperimentRun = Type.Object(
  {
    ...Run.properties,
    instance_id: Type.String({ description: 'The same as `application_instance_id`.' }),
    version_id: Type.String({ description: 'The same as `application_version_id`.' }),
    ...identityFields,
    candidate_refused: Type.Optional(
      Type.Boolean({
        description:
          'In a switchback test: true if the candidate refused the run, so that the baseline served it. The run still counts for the unit of the candidate. Beyond the specification.',
      }),
    ),
    candidate_refusal: Type.Optional(
      Type.String({
        description:
          'Why the candidate refused the run, in a sentence; absent for a run that it accepted. Beyond the specification.',
      }),
    ),
    start_conditions: nullable(StartConditions),
  },
  { $id: 'ExperimentRun', description: 'A run of an experiment in a list.' },
);
export type ExperimentRun = Static<typeof ExperimentRun>;

const Failure = Type.Object(
  {
    instance_id: Type.String({
      description: 'The instance of the runs; empty for runs of a version without an instance.',
    }),
    version_id: Type.String({ description: 'The version of the runs; empty for the latest executable.' }),
    ensemble_id: ensembleIdSchema,
    error: Type.String({ description: 'The error.' }),
    run_id: nullable(
      Type.String({
        description: 'The first run that failed with it; null for runs that could not be submitted.',
      }),
    ),
    number_of_runs: Type.Integer({ description: 'Number of runs that failed with it.' }),
  },
  { $id: 'Failure', description: 'A distinct error of the runs of an experiment.' },
);

export const RefusedRun = Type.Object(
  {
    instance_id: Type.String({ description: 'The instance; empty for a version without an instance.' }),
    version_id: Type.String({ description: 'The version; empty for the version of the instance.' }),
    ensemble_id: ensembleIdSchema,
    input_id: Type.String({ description: 'The input, by its id in the input set.' }),
    ...identityFields,
    error: Type.String({ description: 'Why it could not be created, in a sentence.' }),
  },
  { $id: 'RefusedRun', description: 'A run of an experiment that could not be created.' },
);
export type RefusedRun = Static<typeof RefusedRun>;

/** Fields of an experiment that say why runs failed or could not be created. */
export const runProblemFields = {
  refused_runs: Type.Array(RefusedRun, {
    description: `The first ${REFUSED_RUNS_EMBEDDED_MAX} runs that could not be created, with the reason. They count as failed.`,
  }),
  failures: Type.Array(Failure, {
    description: `The distinct errors of failed runs by instance and version, in the order of the first run with each. The limit is ${FAILURES_EMBEDDED_MAX}. Beyond the specification.`,
  }),
};

/** Field of a switchback test that says why its candidate refused runs. */
export const refusalsField = {
  refusals: Type.Array(
    Type.Object(
      {
        error: Type.String({ description: 'Why, in a sentence.' }),
        run_id: Type.String({ description: 'The first run that was refused for it.' }),
        number_of_runs: Type.Integer({ description: 'Number of runs that were refused for it.' }),
      },
      { description: 'A reason.' },
    ),
    {
      description: `The distinct reasons why the candidate refused runs, in the order of the first run with each. The limit is ${FAILURES_EMBEDDED_MAX}. Beyond the specification.`,
    },
  ),
};

const priorityText = `Priority of the runs in the queue, from ${PRIORITY_MIN} (first) to ${PRIORITY_MAX} (last). Beyond the specification.`;

/** Settings that all runs of an experiment share, in requests. */
export const runSettingsFields = {
  priority: optionalNullable(
    Type.Integer({
      minimum: PRIORITY_MIN,
      maximum: PRIORITY_MAX,
      description: `${priorityText} The default is ${PRIORITY_MAX}, whatever the instances say.`,
    }),
  ),
  max_duration: optionalNullable(MaxDuration),
};
const RunSettingsCreate = Type.Object(runSettingsFields);
export type RunSettingsCreate = Static<typeof RunSettingsCreate>;

/** The same settings in responses. */
export const runSettingsResponse = {
  priority: Type.Optional(Type.Integer({ description: priorityText })),
  max_duration: Type.Optional(MaxDuration),
};
