/** Licences of an account: named counters of tokens, such as the seats of a solver licence, that runs occupy. */
import Type, { type Static } from 'typebox';
import { LICENSE_NAME_PATTERN } from './applications/requirements.ts';
import { LABEL_CHARS_MAX, LICENSE_TOKENS_MAX, LICENSES_MAX, SLOT_HOLDERS_MAX } from './limits.ts';
import { defineOperation } from './operation.ts';
import { settingConditionFields, settingTime } from './schemas/conditional-writes.ts';
import { timestampSchema } from './schemas/field-schemas.ts';
import { type ApplicationId, idSchema, type RunId } from './schemas/ids.ts';

const LicenseHolder = Type.Object(
  {
    run_id: idSchema<RunId>('Id of the run.'),
    application_id: idSchema<ApplicationId>('Id of the application.'),
    started_at: timestampSchema('Start time of the run'),
    tokens: Type.Integer({ description: 'Number of tokens that it occupies.' }),
  },
  { $id: 'LicenseHolder', description: 'A running run that occupies licence tokens.' },
);
export type LicenseHolder = Static<typeof LicenseHolder>;

/** The tokens of a licence, and the runs that hold them. */
export const licenseUseFields = {
  total: Type.Integer({ description: 'Number of tokens of the account.' }),
  used: Type.Integer({ description: 'Number of tokens that running runs occupy.' }),
  holders: Type.Array(LicenseHolder, {
    description: `The runs that occupy tokens, oldest first, at most ${SLOT_HOLDERS_MAX}.`,
  }),
};

const License = Type.Object(
  { name: Type.String({ description: 'Name of the licence.' }), ...licenseUseFields },
  { $id: 'License', description: 'A licence, and the runs that use it.' },
);
export type License = Static<typeof License>;

const Licenses = Type.Object(
  {
    licenses: Type.Array(License, { description: 'The licences, by name.' }),
    updated_at: settingTime('the licences'),
  },
  { $id: 'Licenses', description: 'The licences of an account.' },
);
export type Licenses = Static<typeof Licenses>;

const LicensesUpdate = Type.Object(
  {
    licenses: Type.Array(
      Type.Object(
        {
          name: Type.String({
            maxLength: LABEL_CHARS_MAX,
            pattern: LICENSE_NAME_PATTERN,
            description: 'Name of the licence.',
          }),
          total: Type.Integer({
            minimum: 0,
            maximum: LICENSE_TOKENS_MAX,
            description: 'Number of tokens that runs may occupy at once.',
          }),
        },
        { additionalProperties: false, description: 'A licence and its tokens.' },
      ),
      { maxItems: LICENSES_MAX, description: 'All licences of the account. One that is absent is removed.' },
    ),
    ...settingConditionFields,
  },
  { $id: 'LicensesUpdate', additionalProperties: false, description: 'The licences to set.' },
);

const example = {
  licenses: [
    {
      name: 'gurobi',
      total: 4,
      used: 1,
      holders: [
        {
          run_id: 'run-01jd3v7k9mq2z5x8',
          application_id: 'vehicle-routing',
          started_at: '2026-11-20T07:59:12.000Z',
          tokens: 1,
        },
      ],
    },
  ],
  updated_at: '2026-11-20T07:30:00.000Z',
};

export const getLicenses = defineOperation({
  id: 'getLicenses',
  method: 'GET',
  path: '/v1/account/licenses',
  tag: 'usage',
  summary: 'Get the licences',
  description: 'Returns the licences of the account, with the runs that occupy their tokens.',
  right: 'read',
  responses: { 200: { description: 'The licences.', schema: Licenses, example } },
});

export const setLicenses = defineOperation({
  id: 'setLicenses',
  method: 'PUT',
  path: '/v1/account/licenses',
  tag: 'usage',
  summary: 'Set the licences',
  description:
    'Replaces the licences of the account. Runs whose instance requires tokens of a licence (`requirements.licenses`) start while enough tokens are free, and occupy them until they end. A total below the use ends no run: no further run starts until enough of them have ended.',
  right: 'account',
  body: { schema: LicensesUpdate, example: { licenses: [{ name: 'gurobi', total: 4 }] } },
  responses: { 200: { description: 'The licences.', schema: Licenses, example } },
});
