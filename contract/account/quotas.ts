/** Quotas of an account and of its applications: runs that execute at once, and core hours in a month. */
import Type, { type Static } from 'typebox';
import { CONCURRENT_RUNS_MAX, CORE_HOURS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { ApplicationParams } from '../schemas/application-params.ts';
import { settingConditionFields, settingTime } from '../schemas/conditional-writes.ts';
import { nullable, timestampSchema } from '../schemas/field-schemas.ts';
import { type ApplicationId, idSchema } from '../schemas/ids.ts';

const concurrentRuns = nullable(
  Type.Integer({
    minimum: 1,
    maximum: CONCURRENT_RUNS_MAX,
    description: 'Maximum number of runs that workers execute at once; null for no quota.',
  }),
);
const coreHours = nullable(
  Type.Number({
    minimum: 0,
    maximum: CORE_HOURS_MAX,
    description: 'Maximum number of core hours in a calendar month, in UTC; null for no quota.',
  }),
);

/** The quotas that can be set. */
export const quotaFields = { concurrent_runs: concurrentRuns, core_hours_per_month: coreHours };

const QuotaUpdate = Type.Object(
  { ...quotaFields, ...settingConditionFields },
  { $id: 'QuotaUpdate', additionalProperties: false, description: 'The quotas to set.' },
);

const useFields = {
  ...quotaFields,
  running_runs: Type.Integer({ description: 'Runs that workers execute now.' }),
  used_core_hours: Type.Number({
    description: 'Core hours of the runs that ended in this month, as the usage counts them.',
  }),
  updated_at: settingTime('the quotas'),
};
const resetsAt = timestampSchema('Begin of the next month, when the used core hours are 0 again');
const applicationId = idSchema<ApplicationId>('Id of the application.');

const ApplicationQuotas = Type.Object(
  { application_id: applicationId, ...useFields, resets_at: resetsAt },
  { $id: 'ApplicationQuotas', description: 'The quotas of an application, and what it uses of them.' },
);

const Quotas = Type.Object(
  {
    ...useFields,
    resets_at: resetsAt,
    applications: Type.Array(
      Type.Object(
        {
          application_id: applicationId,
          application_name: Type.String({ description: 'Name of the application.' }),
          ...useFields,
        },
        { description: 'The quotas of an application, and what it uses of them.' },
      ),
      { description: 'The applications that have a quota, by id.' },
    ),
  },
  { $id: 'Quotas', description: 'The quotas of an account, and what it uses of them.' },
);
export type Quotas = Static<typeof Quotas>;

const limitsExample = { concurrent_runs: 8, core_hours_per_month: 500 };
const applicationLimitsExample = { concurrent_runs: 2, core_hours_per_month: null };
const applicationExample = {
  application_id: 'vehicle-routing',
  ...applicationLimitsExample,
  running_runs: 1,
  used_core_hours: 31.25,
  updated_at: '2026-11-20T08:00:00.000Z',
};
const resetsExample = { resets_at: '2026-12-01T00:00:00.000Z' };
const example = {
  ...limitsExample,
  running_runs: 3,
  used_core_hours: 212.5,
  updated_at: '2026-11-19T16:30:00.000Z',
  ...resetsExample,
  applications: [{ ...applicationExample, application_name: 'Vehicle routing' }],
};

const applicationQuotasResponse = {
  description: 'The quotas.',
  schema: ApplicationQuotas,
  example: { ...applicationExample, ...resetsExample },
};

export const getQuotas = defineOperation({
  id: 'getQuotas',
  method: 'GET',
  path: '/v1/account/quotas',
  tag: 'usage',
  summary: 'Get the quotas',
  description: 'Returns the quotas of the account, and what it uses of them.',
  right: 'read',
  responses: respond(200, 'The quotas.', Quotas, example),
});

export const setQuotas = defineOperation({
  id: 'setQuotas',
  method: 'PUT',
  path: '/v1/account/quotas',
  tag: 'usage',
  summary: 'Set the quotas',
  description:
    'Sets the quotas of the account. Beyond `concurrent_runs`, runs wait in the queue with the reason `quota`. Beyond `core_hours_per_month`, new runs and experiments return 403 until the month ends. Runs that were accepted before are executed.',
  right: 'account',
  body: { schema: QuotaUpdate, example: limitsExample },
  responses: respond(200, 'The quotas.', Quotas, example),
});

export const getApplicationQuotas = defineOperation({
  id: 'getApplicationQuotas',
  method: 'GET',
  path: '/v1/applications/{application_id}/quotas',
  tag: 'usage',
  summary: 'Get the quotas of an application',
  description: 'Returns the quotas of the application, and what it uses of them.',
  right: 'read',
  params: ApplicationParams,
  responses: { 200: applicationQuotasResponse },
});

export const setApplicationQuotas = defineOperation({
  id: 'setApplicationQuotas',
  method: 'PUT',
  path: '/v1/applications/{application_id}/quotas',
  tag: 'usage',
  summary: 'Set the quotas of an application',
  description:
    'Sets the quotas of the application. They hold beside those of the account and have the same effect. Runs wait with the reason `quota`, or new runs and experiments return 403. The core hours are those of the id. A deleted application that had the id counts too.',
  right: 'account',
  params: ApplicationParams,
  body: { schema: QuotaUpdate, example: applicationLimitsExample },
  responses: { 200: applicationQuotasResponse },
});
