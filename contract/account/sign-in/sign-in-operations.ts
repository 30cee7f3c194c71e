/** The operations by which programs and people sign in without a token. */
import Type from 'typebox';
import { CONSOLE_HEADER } from '../../console-header.ts';
import { SIGN_IN_LINK_MINUTES } from '../../limits.ts';
import { defineOperation, respond } from '../../operation.ts';
import { ROLES } from '../../roles.ts';
import { stringEnum, textSchema } from '../../schemas/field-schemas.ts';
import { type AccountId, idSchema } from '../../schemas/ids.ts';
import {
  approveDeviceAuthorization,
  denyDeviceAuthorization,
  getDeviceAuthorization,
  getDeviceAuthorizationStatus,
  redeemDeviceAuthorization,
  startDeviceAuthorization,
} from './device-authorizations.ts';

const SingleSignOn = Type.Object(
  {
    enabled: Type.Boolean({ description: 'true if the operator has set an identity provider.' }),
    provider: Type.String({ description: 'Host of the identity provider; empty without one.' }),
    discovery_url: Type.String({
      description: 'Address of the discovery document of the provider; empty without one.',
    }),
    cli_client_id: Type.String({
      description: 'Client id for `nextmv auth login`; empty if the command line cannot sign in.',
    }),
  },
  { $id: 'SingleSignOn', description: 'The single sign-on of the server.' },
);

const SingleSignOnAddress = Type.Object(
  { url: Type.String({ description: 'Address at the identity provider, for the browser.' }) },
  { $id: 'SingleSignOnAddress', description: 'The address that starts a sign-in.' },
);

const SsoDomain = Type.Object(
  {
    enabled: Type.Boolean({ description: 'true if people of the domain can sign in.' }),
    domain_identifier: Type.String({
      description: 'The domain in lower case; empty when `enabled` is false.',
    }),
  },
  { $id: 'SsoDomain', description: 'The single sign-on of an e-mail domain.' },
);

const OrganizationMembership = Type.Object(
  {
    id: idSchema<AccountId>('Id of the account.'),
    name: Type.String({ description: 'Name of the account.' }),
    role: stringEnum(ROLES, 'Role of the caller in the account.'),
    pending_invite: Type.Boolean({ description: 'Always false, because the caller has joined.' }),
  },
  {
    $id: 'OrganizationMembership',
    description: 'An account of the caller, which the clients call organisation.',
  },
);

/**
 * Single sign-on with OpenID Connect. The console asks the server for an address at the identity provider, the browser
 * goes there and comes back with a code, and `createSession` redeems it. The command line of the published client gets
 * its tokens from the provider itself, and sends its ID token as the bearer token.
 */
const getSingleSignOn = defineOperation({
  id: 'getSingleSignOn',
  method: 'GET',
  path: '/v1/sso',
  tag: 'sessions',
  summary: 'Get the single sign-on',
  description: 'Returns whether the server has an identity provider, and the settings for the command line.',
  right: 'public',
  responses: respond(200, 'The single sign-on.', SingleSignOn, {
    enabled: true,
    provider: 'login.example.com',
    discovery_url: 'https://login.example.com/realms/staff/.well-known/openid-configuration',
    cli_client_id: 'switchyard-cli',
  }),
});

const startSingleSignOn = defineOperation({
  id: 'startSingleSignOn',
  method: 'GET',
  path: '/v1/sso/sign-in',
  tag: 'sessions',
  summary: 'Start a single sign-on',
  description: `Returns the address at the identity provider, and sets a cookie that binds the sign-in to this browser for ${SIGN_IN_LINK_MINUTES} minutes. The request needs the header \`${CONSOLE_HEADER}\`. Without an identity provider it returns 404; while the provider is unreachable, 503.`,
  right: 'public',
  responses: {
    200: {
      description: 'The address.',
      schema: SingleSignOnAddress,
      example: { url: 'https://login.example.com/realms/staff/protocol/openid-connect/auth?…' },
      headers: { 'set-cookie': 'The cookie of the sign-in.' },
    },
  },
  errors: [403, 404],
});

const getSsoDomain = defineOperation({
  id: 'getSsoDomain',
  method: 'GET',
  path: '/v1/enterprise/sso/domain',
  tag: 'sessions',
  summary: 'Get the single sign-on of a domain',
  description:
    'Returns whether people with an e-mail address of the domain can sign in. The command line of the published client asks it before the sign-in.',
  right: 'public',
  query: Type.Object({
    domain: textSchema('The part of an e-mail address after the @ sign.', { min: 1, max: 255 }),
  }),
  responses: respond(200, 'The single sign-on of the domain.', SsoDomain, {
    enabled: true,
    domain_identifier: 'example.com',
  }),
});

const listOwnOrganizations = defineOperation({
  id: 'listOwnOrganizations',
  method: 'GET',
  path: '/v1/internal/me/organization',
  tag: 'account',
  summary: 'List the organisations of the caller',
  description:
    'Lists the account of the caller, in the form that the command line of the published client reads. A key and an ID token belong to one account, so the list has one item.',
  right: 'read',
  responses: respond(200, 'The organisations.', Type.Array(OrganizationMembership), [
    { id: 'account-1', name: 'Main account', role: 'developer', pending_invite: false },
  ]),
});

export const signInOperations = {
  startDeviceAuthorization,
  getDeviceAuthorizationStatus,
  redeemDeviceAuthorization,
  getDeviceAuthorization,
  approveDeviceAuthorization,
  denyDeviceAuthorization,
  getSingleSignOn,
  startSingleSignOn,
  getSsoDomain,
  listOwnOrganizations,
} as const;
