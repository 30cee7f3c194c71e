/** ID tokens as bearer tokens, as the published command line sends them, and providers that fail. */
import type { ServerResponse } from 'node:http';
import type { Member } from '@switchyard/contract/account/members.ts';
import { decodeJwt, type JWTPayload, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { readSsoSettings } from '../../platform/settings/sso-settings.ts';
import { expectError, expectStatus } from '../../testing/fixtures/resources.ts';
import { createManualClock } from '../../testing/host/manual-clock.ts';
import {
  type Fault,
  sendCallback,
  ssoSettings,
  startIdentityProvider,
  startSignOn,
  type TestIdentityProvider,
  type TestPerson,
} from '../../testing/http/identity-provider.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/servers/test-server.ts';
import { IdentityProvider } from './identity-provider.ts';

const clock = createManualClock(Date.now());
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' };
const roles = { SWITCHYARD_OIDC_ROLES: 'admins=admin,*=viewer' };
let provider: TestIdentityProvider;
let server: TestServer;
let account: string;
beforeAll(async () => {
  provider = await startIdentityProvider();
  server = await startTestServer({ clock, env: { ...ssoSettings(provider), ...roles } });
  provider.allowConsole(server.url);
  account = ((await server.request('GET', '/v1/account')).body as { id: string }).id;
});
afterEach(() => {
  provider.fault = null;
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

let seconds = 0;
/** Returns an ID token for the command line, newer than those before. */
const issue = (person: TestPerson, changes: JWTPayload = {}): Promise<string> => {
  seconds += 1;
  return provider.issueIdToken(person, { iat: Math.floor(clock.now() / 1000) - 1000 + seconds, ...changes });
};

const ORGANIZATIONS = '/v1/internal/me/organization';
const list = (token: string, headers: Record<string, string> = {}) =>
  server.request('GET', ORGANIZATIONS, { token, headers });

describe('an ID token of the command line', () => {
  test('makes its person a member and acts with their role', async () => {
    const token = await issue(ADA);
    const response = await list(token, { 'nextmv-account': account });
    expectStatus(response, 200);
    expect(response.body).toEqual([
      { id: account, name: 'Main account', role: 'viewer', pending_invite: false },
    ]);
    const create = { token, body: { name: 'Any name' } };
    expectError(await server.request('POST', '/v1/applications', create), 403, 'role viewer');
    const { body } = await server.request('GET', '/v1/account', { token });
    expect(body).toMatchObject({ key: { user_email: ADA.email, name: 'Single sign-on' } });
  });

  test('of an older time changes no role', async () => {
    const person = { ...ADA, sub: 'kim', email: 'kim@example.com' };
    const strong = await issue({ ...person, groups: ['admins'] });
    expectStatus(await server.request('GET', '/v1/account/audit', { token: strong }), 200);
    expectStatus(await list(await issue(person)), 200);
    expectError(await server.request('GET', '/v1/account/audit', { token: strong }), 403, 'role viewer');
  });

  test('ends with its key, until a newer one', async () => {
    const person = { ...ADA, sub: 'lee', email: 'lee@example.com' };
    const token = await issue(person);
    const { body } = await server.request('GET', '/v1/account', { token });
    const { key } = body as { key: { id: string } };
    expectStatus(await server.request('DELETE', `/v1/account/keys/${key.id}`), 204);
    expectError(await list(token), 401, 'was revoked');
    expectStatus(await list(await issue(person)), 200);
  });

  test('of a removed member is refused at once, and a newer one too', async () => {
    const person = { ...ADA, sub: 'max', email: 'max@example.com' };
    const token = await issue(person);
    expectStatus(await list(token), 200);
    const { body } = await server.request('GET', '/v1/account/members');
    const member = (body as Member[]).find(({ email }) => email === person.email);
    expectStatus(await server.request('DELETE', `/v1/account/members/${member?.id}`), 204);
    for (const one of [token, await issue(person)]) expectError(await list(one), 403, 'was removed');
  });

  test('acts in no other account', async () => {
    const response = await list(await issue(ADA), { 'nextmv-account': 'account-of-others' });
    expectError(response, 403, 'nextmv-account is "account-of-others"');
  });

  const resign = (changes: JWTPayload) => (token: string) =>
    provider.sign({ ...decodeJwt(token), ...changes });
  test.each<[string, (token: string) => string | Promise<string>, number]>([
    ['that is expired', (token) => resign({ exp: Math.floor(clock.now() / 1000) - 60 })(token), 401],
    ['for the client of the console', resign({ aud: 'switchyard' }), 401],
    ['of another issuer', resign({ iss: 'https://evil.example' }), 401],
    ['without a signature (alg none)', (token) => new UnsecuredJWT(decodeJwt(token)).encode(), 401],
    ['that is an access token', (token) => provider.sign(decodeJwt(token), { typ: 'at+jwt' }), 401],
    ['A13: that is an access token of Keycloak, with JWT in its header', resign({ typ: 'Bearer' }), 401],
    ['A13: that is a refresh token', resign({ typ: 'Refresh' }), 401],
    ['A13: that is an access token of Cognito', resign({ token_use: 'access' }), 401],
    ['A13: for several services', resign({ aud: ['switchyard-cli', 'reports'] }), 401],
    [
      'A13: for several services, issued to its own client',
      resign({ aud: ['switchyard-cli', 'reports'], azp: 'switchyard-cli' }),
      401,
    ],
    ['A13: with the scope of an access token', resign({ scope: 'openid', auth_time: 1 }), 401],
    ['A13: with a client and no claim of a sign-in', resign({ client_id: 'switchyard-cli' }), 401],
    ['of an unknown key', (token) => provider.sign(decodeJwt(token), { kid: 'unknown' }), 401],
    ['of an address that is not verified', resign({ email_verified: false }), 403],
    ['of another domain', resign({ email: 'ada@example.net' }), 403],
  ])('%s is refused', async (_title, change, status) => {
    const response = await list(await change(await issue(ADA)));
    expectStatus(response, status);
  });

  test.each<[string, JWTPayload]>([
    ['the claim typ of Keycloak', { typ: 'ID' }],
    ['the claim token_use of Cognito', { token_use: 'id' }],
    ['at_hash', { at_hash: 'any', client_id: 'switchyard-cli' }],
    ['nonce', { nonce: 'any', client_id: 'switchyard-cli' }],
    ['auth_time', { auth_time: 1, client_id: 'switchyard-cli' }],
    ['one audience as a list', { aud: ['switchyard-cli'] }],
  ])('A13: is known by %s', async (_title, claims) => {
    expectStatus(await list(await resign(claims)(await issue(ADA))), 200);
  });

  test('stops working when it expires', async () => {
    const token = await issue(ADA, { exp: Math.floor(clock.now() / 1000) + 600 });
    expectStatus(await list(token), 200);
    clock.advance(660_000);
    expectError(await list(token), 401, 'exp');
  });
});

test('the command line learns whether a domain has single sign-on, without a token', async () => {
  const read = async (domain: string) =>
    (await server.request('GET', `/v1/enterprise/sso/domain?domain=${domain}`, { token: null })).body;
  expect(await read('Example.com')).toEqual({ enabled: true, domain_identifier: 'example.com' });
  expect(await read('example.net')).toEqual({ enabled: false, domain_identifier: '' });
  const { body } = await server.request('GET', '/v1/sso', { token: null });
  expect(body).toEqual({
    enabled: true,
    provider: new URL(provider.issuer).host,
    discovery_url: `${provider.issuer}/.well-known/openid-configuration`,
    cli_client_id: 'switchyard-cli',
  });
});

/** Expects the error of a provider that does not respond as it should. */
function expectUnavailable(response: TestResponse): void {
  expect(response.status, response.text).toBe(503);
  expect(response.headers.get('retry-after')).toBe('10');
  expect(response.text).toContain(`The identity provider ${provider.issuer} gives no valid response`);
}

/** Returns a fault of the requests whose path contains the text. */
const failing =
  (path: string, respond: (response: ServerResponse) => unknown): Fault =>
  (request, response) => {
    if (!request.url?.includes(path)) return false;
    respond(response);
    return true;
  };
const JSON_TYPE = { 'content-type': 'application/json' };
const FAULTS: [string, (response: ServerResponse) => unknown][] = [
  ['responds 500', (response) => response.writeHead(500).end('broken')],
  [
    'responds with HTML',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>'),
  ],
  ['responds with invalid JSON', (response) => response.writeHead(200, JSON_TYPE).end('{"issuer":')],
  ['sends a huge body', (response) => response.writeHead(200, JSON_TYPE).end(`"${'x'.repeat(1024 * 1024)}"`)],
  ['redirects elsewhere', (response) => response.writeHead(302, { location: 'https://evil.example' }).end()],
  ['closes the connection', (response) => response.destroy()],
];

describe('a provider that', () => {
  test.each(FAULTS)('%s instead of tokens fails the sign-in alone', async (_title, respond) => {
    provider.person = ADA;
    const { cookie, url } = await startSignOn(server);
    const callback = (await provider.followSignIn(url)).search.slice(1);
    provider.fault = failing('/token', respond);
    expectUnavailable(await sendCallback(server, cookie, callback));
    expectStatus(await server.request('GET', '/v1/account'), 200);
  });

  const settings = () => {
    const read = readSsoSettings(ssoSettings(provider));
    if (!read) throw new Error('The settings name an issuer.');
    return read;
  };
  const signOn = { state: 'any', nonce: 'any', codeVerifier: 'any', expiresAt: 0 };
  const open = (changes: object = {}) =>
    new IdentityProvider({
      settings: { ...settings(), ...changes },
      clock: systemClock,
      log: createLog('silent'),
      timeoutMs: 300,
    });

  test.each<[string, (response: ServerResponse) => unknown]>([
    ...FAULTS,
    ['hangs', () => {}],
    ['hangs after the headers', (response) => response.writeHead(200, JSON_TYPE).write('{')],
  ])('%s instead of its discovery document starts no sign-in', async (_title, respond) => {
    provider.fault = failing('openid-configuration', respond);
    const failed = open();
    await failed.check();
    await expect(failed.buildSignOnUrl(signOn, 'https://yard.example')).rejects.toThrow(
      `The identity provider ${provider.issuer} gives no valid response`,
    );
  });

  test.each<[string, object, string]>([
    ['is another issuer', { issuer: 'https://evil.example' }, 'issuer'],
    ['has no token endpoint', { token_endpoint: undefined }, 'token_endpoint'],
    [
      'has a script as its address',
      { authorization_endpoint: 'javascript:alert(1)' },
      'authorization_endpoint',
    ],
    ['has a file as its keys', { jwks_uri: 'file:///etc/passwd' }, 'jwks_uri'],
  ])('%s by its discovery document starts no sign-in', async (_title, changes, name) => {
    const document = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json();
    const body = JSON.stringify({ ...(document as object), ...changes });
    provider.fault = failing('openid-configuration', (response) =>
      response.writeHead(200, JSON_TYPE).end(body),
    );
    await expect(open().buildSignOnUrl(signOn, 'https://yard.example')).rejects.toThrow(name);
  });
});

test('a server starts while its provider is down, serves keys, and signs in once the provider responds', async () => {
  provider.fault = failing('/', (response) => response.destroy());
  await server.restart();
  expectStatus(await server.request('GET', '/v1/account'), 200);
  const headers = { 'x-switchyard-console': '1' };
  const start = () => server.request('GET', '/v1/sso/sign-in', { token: null, headers });
  expectUnavailable(await start());
  expectUnavailable(await list(await issue(ADA)));
  provider.fault = null;
  clock.advance(5_000);
  expectStatus(await start(), 200);
});

test('a server without a provider signs nobody in by one', async () => {
  await server.restart(
    Object.fromEntries(Object.keys({ ...ssoSettings(provider), ...roles }).map((name) => [name, ''])),
  );
  const headers = { 'x-switchyard-console': '1', origin: server.url };
  const start = await server.request('GET', '/v1/sso/sign-in', { token: null, headers });
  expectError(start, 404, 'SWITCHYARD_OIDC_ISSUER');
  expectError(await sendCallback(server, '', 'code=a&state=b'), 404, 'SWITCHYARD_OIDC_ISSUER');
  expectError(await list(await issue(ADA)), 401, 'not known here');
  const { body } = await server.request('GET', '/v1/enterprise/sso/domain?domain=example.com', {
    token: null,
  });
  expect(body).toEqual({ enabled: false, domain_identifier: '' });
});
