/**
 * A device authorization signs a program in on a machine without a browser, such as the command line on a remote machine
 * (RFC 8628). The program shows a short code; a person enters it in the console and approves; the program gets a key.
 */
import Type, { type Static } from 'typebox';
import {
  DEVICE_AUTHORIZATION_SECONDS,
  DEVICE_AUTHORIZATIONS_MAX,
  DEVICE_POLL_SECONDS,
  NETWORK_DEVICE_AUTHORIZATIONS_MAX,
  USER_CODE_LETTERS,
} from '../../limits.ts';
import { defineOperation, respond } from '../../operation.ts';
import { formatNumber } from '../../presentation/format-quantity.ts';
import { ROLES } from '../../roles.ts';
import {
  nameSchema,
  nullable,
  optionalNullable,
  stringEnum,
  textSchema,
  timestampSchema,
} from '../../schemas/field-schemas.ts';
import { type DeviceAuthorizationId, idSchema } from '../../schemas/ids.ts';
import { NewKey, newKeyExample } from '../account.ts';

/** The header with the device code. An address would end up in the logs of proxies. */
export const DEVICE_CODE_HEADER = 'x-switchyard-device-code';

const CODE_CHARS_MAX = 128;
const MINUTES = DEVICE_AUTHORIZATION_SECONDS / 60;

const DEVICE_STATUSES = ['pending', 'approved', 'denied'] as const;
export type DeviceStatus = (typeof DEVICE_STATUSES)[number];

const deviceCode = textSchema('The secret code of the program.', { min: 1, max: CODE_CHARS_MAX });
const userCode = textSchema(
  `The code that the program shows: ${USER_CODE_LETTERS} letters. Lower case, spaces and hyphens do not matter.`,
  { min: 1, max: CODE_CHARS_MAX },
);

const DeviceAuthorizationCreate = Type.Object(
  { client_name: nameSchema('program and its machine, which becomes the name of the key') },
  { $id: 'DeviceAuthorizationCreate', additionalProperties: false, description: 'The program that asks.' },
);

const DeviceCodes = Type.Object(
  {
    device_code: Type.String({ description: 'The secret code of the program. Only this response shows it.' }),
    user_code: Type.String({ description: 'The code that the program shows to the person.' }),
    verification_uri: Type.String({
      description: 'Address of the page on which the person enters the code.',
    }),
    verification_uri_complete: Type.String({ description: 'The same address with the code in it.' }),
    expires_in: Type.Integer({ description: 'Seconds until the codes expire.' }),
    interval: Type.Integer({ description: 'Seconds to wait between two reads of the status.' }),
  },
  {
    $id: 'DeviceCodes',
    description: 'The codes of a device authorization, with the field names of RFC 8628.',
  },
);

const DeviceStatusBody = Type.Object(
  {
    status: stringEnum(
      DEVICE_STATUSES,
      '`pending` until a person has decided. Redeem the code after `approved`; stop after `denied`.',
    ),
  },
  { $id: 'DeviceAuthorizationStatus', description: 'The status of a device authorization.' },
);

const DeviceCodeBody = Type.Object(
  { device_code: deviceCode },
  { $id: 'DeviceCodeRedemption', additionalProperties: false, description: 'The code of the program.' },
);

const DeviceAuthorization = Type.Object(
  {
    id: idSchema<DeviceAuthorizationId>('Id of the authorization, as in the audit log.'),
    client_name: Type.String({
      description: 'The name that the program gave itself. Nobody has checked it.',
    }),
    address: Type.String({ description: 'IP address from which the program asks.' }),
    status: stringEnum(DEVICE_STATUSES, 'The decision.'),
    role: nullable(stringEnum(ROLES, 'Role of the key; null until somebody approves.')),
    created_at: timestampSchema('Time of the request of the program'),
    expires_at: timestampSchema('Time at which the codes expire'),
  },
  { $id: 'DeviceAuthorization', description: 'A program that asks for a key, without its codes.' },
);
export type DeviceAuthorization = Static<typeof DeviceAuthorization>;

const DeviceApproval = Type.Object(
  {
    user_code: userCode,
    role: optionalNullable(
      stringEnum(ROLES, 'Role of the key. The default is the role of the caller, which is also the maximum.'),
    ),
  },
  { $id: 'DeviceApproval', additionalProperties: false, description: 'The code, and the role of the key.' },
);

const DeviceDenial = Type.Object(
  { user_code: userCode },
  { $id: 'DeviceDenial', additionalProperties: false, description: 'The code of the program to refuse.' },
);

const example = {
  id: 'device-01jd3v7k9mq2z5x8',
  client_name: 'switchyard on build-7',
  address: '192.0.2.17',
  status: 'pending' as const,
  role: null,
  created_at: '2026-11-23T08:00:00.000Z',
  expires_at: '2026-11-23T08:15:00.000Z',
};
const PATH = '/v1/account/device-authorizations';

export const startDeviceAuthorization = defineOperation({
  id: 'startDeviceAuthorization',
  method: 'POST',
  path: PATH,
  tag: 'device-authorizations',
  summary: 'Start a device authorization',
  description: `Returns a code for the program, and another one for the person who signs in. They expire after ${MINUTES} minutes. A server has at most ${formatNumber(DEVICE_AUTHORIZATIONS_MAX)} open requests, of which ${NETWORK_DEVICE_AUTHORIZATIONS_MAX} come from one network; another one replaces the oldest that nobody has decided.`,
  right: 'public',
  returnsToken: true,
  body: { schema: DeviceAuthorizationCreate, example: { client_name: example.client_name } },
  responses: respond(201, 'The codes.', DeviceCodes, {
    device_code: 'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS_s',
    user_code: 'WDJB-MJHT',
    verification_uri: 'https://switchyard.example.com/console/device',
    verification_uri_complete: 'https://switchyard.example.com/console/device?user_code=WDJB-MJHT',
    expires_in: DEVICE_AUTHORIZATION_SECONDS,
    interval: DEVICE_POLL_SECONDS,
  }),
});

export const getDeviceAuthorizationStatus = defineOperation({
  id: 'getDeviceAuthorizationStatus',
  method: 'GET',
  path: `${PATH}/status`,
  tag: 'device-authorizations',
  summary: 'Get the status of a device authorization',
  description: `Returns the decision of the person. The header \`${DEVICE_CODE_HEADER}\` has the device code. An unknown, expired or redeemed code returns 404.`,
  right: 'public',
  headers: Type.Object({ [DEVICE_CODE_HEADER]: Type.Optional(deviceCode) }),
  responses: respond(200, 'The status.', DeviceStatusBody, { status: 'pending' }),
  errors: [404],
});

export const redeemDeviceAuthorization = defineOperation({
  id: 'redeemDeviceAuthorization',
  method: 'POST',
  path: `${PATH}/token`,
  tag: 'device-authorizations',
  summary: 'Redeem a device code',
  description:
    'Creates the key that the person approved, and returns its token. A device code works once. The key belongs to the person who approved, and descends from the key with which they were signed in. A pending code returns 400, a denied one 403.',
  right: 'public',
  returnsToken: true,
  body: { schema: DeviceCodeBody, example: { device_code: 'GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS_s' } },
  responses: respond(201, 'The key with its token.', NewKey, { ...newKeyExample, name: example.client_name }),
  errors: [403, 404],
});

export const getDeviceAuthorization = defineOperation({
  id: 'getDeviceAuthorization',
  method: 'GET',
  path: PATH,
  tag: 'device-authorizations',
  summary: 'Find a device authorization',
  description: 'Returns the program that shows a code, so that a person can decide.',
  right: 'keys',
  query: Type.Object({ user_code: userCode }),
  responses: respond(200, 'The program that asks.', DeviceAuthorization, example),
  errors: [404],
});

export const approveDeviceAuthorization = defineOperation({
  id: 'approveDeviceAuthorization',
  method: 'POST',
  path: `${PATH}/approve`,
  tag: 'device-authorizations',
  summary: 'Approve a device authorization',
  description: 'Lets the program that shows the code create one key of the caller. A decision is final.',
  right: 'keys',
  body: { schema: DeviceApproval, example: { user_code: 'WDJB-MJHT', role: 'operator' } },
  responses: respond(200, 'The approved program.', DeviceAuthorization, {
    ...example,
    status: 'approved',
    role: 'operator',
  }),
  errors: [404],
});

export const denyDeviceAuthorization = defineOperation({
  id: 'denyDeviceAuthorization',
  method: 'POST',
  path: `${PATH}/deny`,
  tag: 'device-authorizations',
  summary: 'Deny a device authorization',
  description: 'Refuses the program that shows the code. A decision is final.',
  right: 'keys',
  body: { schema: DeviceDenial, example: { user_code: 'WDJB-MJHT' } },
  responses: respond(200, 'The refused program.', DeviceAuthorization, { ...example, status: 'denied' }),
  errors: [404],
});
