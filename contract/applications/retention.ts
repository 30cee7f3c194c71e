/** Retention: how long the runs of an application stay, what a policy would delete, and the storage of each application. */
import Type, { type Static } from 'typebox';
import { RETENTION_DAYS_MAX, RETENTION_EXAMPLES_MAX, RETENTION_PREVIEW_RUNS_MAX } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { settingConditionFields, settingTime } from '../schemas/conditional-writes.ts';
import { nullable, timestampSchema } from '../schemas/field-schemas.ts';
import { type ApplicationId, idSchema, type RunId } from '../schemas/ids.ts';

const keepDays = Type.Integer({
  minimum: 1,
  maximum: RETENTION_DAYS_MAX,
  description: 'Days that a run stays after its end.',
});
const keepExperimentRuns = Type.Boolean({
  description: 'true: runs of experiments stay. false: they stay until the experiment has ended.',
});

const RetentionPolicy = Type.Object(
  {
    keep_days: nullable(keepDays),
    keep_experiment_runs: keepExperimentRuns,
    updated_at: settingTime('the policy'),
  },
  {
    $id: 'RetentionPolicy',
    description: 'The retention policy of an application. Without `keep_days`, runs stay.',
  },
);
export type RetentionPolicy = Static<typeof RetentionPolicy>;

/** The fields of a policy that can be set. */
export const retentionFields = {
  keep_days: nullable(keepDays),
  keep_experiment_runs: Type.Optional(keepExperimentRuns),
};

const RetentionPolicyUpdate = Type.Object(
  { ...retentionFields, ...settingConditionFields },
  {
    $id: 'RetentionPolicyUpdate',
    additionalProperties: false,
    description: 'The policy. `keep_days` null: runs stay. The default of `keep_experiment_runs` is true.',
  },
);

const ExpiredRun = Type.Object(
  {
    id: idSchema<RunId>('Id of the run.'),
    name: Type.String({ description: 'Name of the run.' }),
    created_at: timestampSchema('Creation time of the run'),
    finished_at: timestampSchema('End of the run'),
  },
  { $id: 'ExpiredRun', description: 'A run that a policy would delete.' },
);

const RetentionPreview = Type.Object(
  {
    runs: Type.Integer({
      description: 'Runs that the policy would delete now. Child runs of an ensemble run are not counted.',
    }),
    bytes: Type.Integer({ description: 'Bytes of their inputs, outputs, logs and assets.' }),
    oldest: nullable(timestampSchema('Creation time of the oldest of them; null without any')),
    newest: nullable(timestampSchema('Creation time of the newest of them; null without any')),
    examples: Type.Array(ExpiredRun, {
      description: `The oldest of them, at most ${RETENTION_EXAMPLES_MAX}.`,
    }),
    retained: Type.Object(
      {
        tagged: Type.Integer({ description: 'Runs with a tag, and ensemble runs with a tagged child run.' }),
        of_experiments: Type.Integer({ description: 'Runs of experiments that the policy keeps.' }),
        in_use: Type.Integer({
          description:
            'Runs that have not ended, or that an experiment, an ensemble run or a replay still reads.',
        }),
      },
      { description: 'Runs that are old enough, and stay.' },
    ),
    is_complete: Type.Boolean({
      description: `false: only the oldest ${RETENTION_PREVIEW_RUNS_MAX} runs are counted.`,
    }),
  },
  { $id: 'RetentionPreview', description: 'The effect that a policy would have now.' },
);
export type RetentionPreview = Static<typeof RetentionPreview>;

const ApplicationStorage = Type.Object(
  {
    application_id: idSchema<ApplicationId>('Id of the application.'),
    application_name: Type.String({ description: 'Name of the application at the measurement.' }),
    runs: Type.Integer({ description: 'Number of runs.' }),
    run_bytes: Type.Integer({ description: 'Bytes of the inputs, outputs, logs and assets of runs.' }),
    input_bytes: Type.Integer({ description: 'Bytes of managed inputs and of input sets.' }),
    executable_bytes: Type.Integer({ description: 'Bytes of pushed archives.' }),
    keep_days: nullable(keepDays),
  },
  {
    $id: 'ApplicationStorage',
    description: 'Storage of an application. Content that several resources share counts for each of them.',
  },
);
export type ApplicationStorage = Static<typeof ApplicationStorage>;

const AccountStorage = Type.Object(
  {
    measured_at: timestampSchema('Time of the measurement'),
    items: Type.Array(ApplicationStorage, { description: 'The applications, newest first.' }),
  },
  { $id: 'AccountStorage', description: 'Storage of the applications of an account.' },
);
export type AccountStorage = Static<typeof AccountStorage>;

const policyExample = {
  keep_days: 90,
  keep_experiment_runs: true,
  updated_at: '2026-11-20T08:00:00.000Z',
};

export const getRetention = defineOperation({
  id: 'getRetention',
  method: 'GET',
  path: '/v1/applications/{application_id}/retention',
  tag: 'retention',
  summary: 'Get the retention policy',
  description: 'Returns the retention policy of the application.',
  right: 'read',
  params: ApplicationParams,
  responses: { 200: { description: 'The policy.', schema: RetentionPolicy, example: policyExample } },
  errors: [404],
});

export const setRetention = defineOperation({
  id: 'setRetention',
  method: 'PUT',
  path: '/v1/applications/{application_id}/retention',
  tag: 'retention',
  summary: 'Set the retention policy',
  description:
    'Sets the retention policy. A clean-up job deletes expired runs from then on, in small steps, and writes an audit entry `removeExpiredRuns` for each step. Preview the policy first: deleted runs cannot be restored.',
  right: 'account',
  params: ApplicationParams,
  body: { schema: RetentionPolicyUpdate, example: { keep_days: 90, keep_experiment_runs: true } },
  responses: { 200: { description: 'The policy.', schema: RetentionPolicy, example: policyExample } },
  errors: [404],
});

export const previewRetention = defineOperation({
  id: 'previewRetention',
  method: 'GET',
  path: '/v1/applications/{application_id}/retention/preview',
  tag: 'retention',
  summary: 'Preview a retention policy',
  description:
    'Returns the runs that a policy would delete now, without deleting any. The default policy is the current one.',
  right: 'account',
  params: ApplicationParams,
  query: Type.Object({
    keep_days: Type.Optional(keepDays),
    keep_experiment_runs: Type.Optional(keepExperimentRuns),
  }),
  responses: {
    200: {
      description: 'The effect of the policy.',
      schema: RetentionPreview,
      example: {
        runs: 1204,
        bytes: 734_003_200,
        oldest: '2026-01-07T06:00:00.000Z',
        newest: '2026-08-21T17:30:00.000Z',
        examples: [
          {
            id: 'run-01jd3v7k9mq2z5x8',
            name: '',
            created_at: '2026-01-07T06:00:00.000Z',
            finished_at: '2026-01-07T06:00:41.000Z',
          },
        ],
        retained: { tagged: 3, of_experiments: 240, in_use: 0 },
        is_complete: true,
      },
    },
  },
  errors: [404],
});

export const getStorage = defineOperation({
  id: 'getStorage',
  method: 'GET',
  path: '/v1/account/storage',
  tag: 'retention',
  summary: 'Get the storage of each application',
  description:
    'Returns the storage of each application of the account. The server measures at most once in 5 minutes for an account.',
  right: 'account',
  responses: {
    200: {
      description: 'The storage.',
      schema: AccountStorage,
      example: {
        measured_at: '2026-11-20T08:00:00.000Z',
        items: [
          {
            application_id: 'routing',
            application_name: 'Vehicle routing',
            runs: 8120,
            run_bytes: 2_147_483_648,
            input_bytes: 1_048_576,
            executable_bytes: 524_288,
            keep_days: 90,
          },
        ],
      },
    },
  },
});
