/** Usage and cost of the runs of an account, by day, application and user. */
import Type, { type Static } from 'typebox';
import { USAGE_DAYS_DEFAULT, USAGE_DAYS_MAX, USAGE_ROWS_MAX } from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { settingConditionFields, settingTime } from '../schemas/conditional-writes.ts';
import { ignoredFieldSchema, nullable, timestampSchema } from '../schemas/field-schemas.ts';
import { type ApplicationId, idReferenceSchema } from '../schemas/ids.ts';

/** The names by which usage can be grouped. */
export const USAGE_GROUPS = ['day', 'application', 'user'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];
const GROUP = `(${USAGE_GROUPS.join('|')})`;

const daySchema = (description: string) =>
  Type.String({ format: 'date', description: `${description} (a day in UTC, such as \`2026-11-20\`).` });

const rateFields = {
  currency: Type.String({
    pattern: '^[A-Z]{3}$',
    description: 'Currency code of ISO 4217, such as `EUR`.',
  }),
  per_core_hour: Type.Number({
    minimum: 0,
    maximum: 1_000_000,
    description: 'Price of one reserved core for one hour.',
  }),
};

const CostRate = Type.Object(
  { ...rateFields, updated_at: settingTime('the rate') },
  { $id: 'CostRate', description: 'The price of a core hour.' },
);
export type CostRate = Static<typeof CostRate>;

const CostRateUpdate = Type.Object(
  // A client may send back the rate that it has read.
  { ...rateFields, ...settingConditionFields, updated_at: ignoredFieldSchema() },
  { $id: 'CostRateUpdate', additionalProperties: false, description: 'The price of a core hour to set.' },
);

const MEASURES = {
  runs: Type.Integer({ description: 'Runs that ended.' }),
  failed_runs: Type.Integer({ description: 'Runs that ended as failed.' }),
  run_seconds: Type.Number({ description: 'Execution time of the runs, in seconds.' }),
  core_seconds: Type.Number({
    description: 'Execution time multiplied by the cores of the execution class, in seconds.',
  }),
  stored_bytes: Type.Integer({
    description: 'Bytes of the inputs and outputs of the runs, also if deleted since.',
  }),
  cost: nullable(
    Type.Number({ description: 'Core hours multiplied by the cost rate; null without a rate.' }),
  ),
};
const UsageTotal = Type.Object(MEASURES, { $id: 'UsageTotal', description: 'Usage of all runs of a range.' });

const UsageRow = Type.Object(
  {
    day: Type.Optional(daySchema('Day on which the runs ended, when grouped by day')),
    application_id: Type.Optional(
      idReferenceSchema<ApplicationId>('Id of the application, when grouped by application.'),
    ),
    application_name: Type.Optional(
      Type.String({ description: 'Name of the application; its id if it is deleted.' }),
    ),
    user_email: Type.Optional(
      Type.String({ description: 'E-mail address of the user of the runs, when grouped by user.' }),
    ),
    ...MEASURES,
  },
  { $id: 'UsageRow', description: 'Usage of one group of runs.' },
);
export type UsageRow = Static<typeof UsageRow>;

const Usage = Type.Object(
  {
    from: daySchema('First day of the range'),
    to: daySchema('Last day of the range'),
    cost_rate: nullable(CostRate),
    total: UsageTotal,
    items: Type.Array(UsageRow, { description: 'The groups with any run.' }),
  },
  { $id: 'Usage', description: 'Usage of an account in a range of days.' },
);
export type Usage = Static<typeof Usage>;

const newRateExample = { currency: 'EUR', per_core_hour: 0.05 };
const rateExample = { ...newRateExample, updated_at: '2026-11-02T09:00:00.000Z' };
const measuresExample = {
  runs: 24,
  failed_runs: 1,
  run_seconds: 3600,
  core_seconds: 21_600,
  stored_bytes: 7_340_032,
  cost: 0.3,
};

export const getUsage = defineOperation({
  id: 'getUsage',
  method: 'GET',
  path: '/v1/account/usage',
  tag: 'usage',
  summary: 'Get usage and cost',
  description: `Returns the usage of the runs that ended in a range of days, grouped as \`group_by\` says. A range has at most ${USAGE_DAYS_MAX} days. A response has at most ${USAGE_ROWS_MAX} groups; more return 400. The server counts a run some seconds after its end. Deleting a run afterwards does not change the usage.`,
  right: 'account',
  query: Type.Object({
    from: Type.Optional(
      daySchema(`First day of the range; the default makes a range of ${USAGE_DAYS_DEFAULT} days`),
    ),
    to: Type.Optional(daySchema('Last day of the range; the default is today')),
    group_by: Type.Optional(
      Type.String({
        pattern: `^${GROUP}(,${GROUP}){0,2}$`,
        description: 'Any of `day`, `application` and `user`, separated by commas. The default is `day`.',
      }),
    ),
    application_id: Type.Optional(
      idReferenceSchema<ApplicationId>('Only runs of the application, which may be deleted.'),
    ),
  }),
  responses: respond(200, 'The usage, ordered by day, application and user.', Usage, {
    from: '2026-11-01',
    to: '2026-11-20',
    cost_rate: rateExample,
    total: measuresExample,
    items: [{ day: '2026-11-20', ...measuresExample }],
  }),
});

export const setCostRate = defineOperation({
  id: 'setCostRate',
  method: 'PUT',
  path: '/v1/account/cost-rate',
  tag: 'usage',
  summary: 'Set the cost rate',
  description:
    'Sets the price of a core hour. Usage of any time is priced with the current rate. Without a rate, `expected_updated_at` is null.',
  right: 'account',
  body: { schema: CostRateUpdate, example: newRateExample },
  responses: respond(200, 'The rate.', CostRate, rateExample),
});

export const deleteCostRate = defineOperation({
  id: 'deleteCostRate',
  method: 'DELETE',
  path: '/v1/account/cost-rate',
  tag: 'usage',
  summary: 'Remove the cost rate',
  description: 'Removes the price of a core hour. Usage then has no cost.',
  right: 'account',
  query: Type.Object({
    expected_updated_at: Type.Optional(
      timestampSchema(
        'The `updated_at` of the rate that you have read. If the rate has changed since, the response is 409, and nothing changes',
      ),
    ),
  }),
  responses: { 204: { description: 'The account has no cost rate.' } },
});
