/**
 * A real identity provider on loopback, `oidc-provider`. It signs in the person that the test has chosen, without a form.
 * Tests change its responses to those of a hostile or failing one.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type JWTPayload, SignJWT } from 'jose';
import Provider, { type Adapter, type AdapterPayload, interactionPolicy } from 'oidc-provider';
import type { TestServer } from '../servers/test-server.ts';
import { listenOnFreePort } from './receiver.ts';
import type { TestResponse } from './request.ts';

/** The client of the console, and the public client of the published command line. */
export const CONSOLE_CLIENT = { id: 'switchyard', secret: 'secret-of-the-console-client-0123456789' };
export const CLI_CLIENT_ID = 'switchyard-cli';
/** The redirect URI of the published command line. */
const CLI_REDIRECT_URI = 'http://127.0.0.1:56734';

/** A person who signs in at the provider. */
export interface TestPerson {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  groups?: unknown;
  [claim: string]: unknown;
}

/** Responds in place of the provider; returns false to let the provider respond. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface TestIdentityProvider {
  readonly issuer: string;
  /** The next person who signs in. */
  person: TestPerson;
  /** Replaces responses; null for none. */
  fault: Fault | null;
  /** Changes the ID token of the token endpoint; null for none. */
  changeIdToken: ((token: string) => string | Promise<string>) | null;
  /** Paths of the requests so far. */
  readonly requests: string[];
  /** Lets the console of the server at this address sign in. */
  allowConsole(url: string): void;
  /** Signs claims as the provider does. */
  sign(claims: JWTPayload, header?: { alg?: string; kid?: string; typ?: string }): Promise<string>;
  /** Returns an ID token of the person for the command line, as the provider would issue it. */
  issueIdToken(person: TestPerson, changes?: JWTPayload): Promise<string>;
  /**
   * Follows the redirects of a browser from an authorization address to the redirect URI of the client; returns that address.
   */
  followSignIn(url: string): Promise<URL>;
  close(): Promise<void>;
}

const KEY_ID = 'test-key';

/** The settings of a server that trusts the provider. */
export function ssoSettings(provider: Pick<TestIdentityProvider, 'issuer'>): Record<string, string> {
  return {
    SWITCHYARD_OIDC_ISSUER: provider.issuer,
    SWITCHYARD_OIDC_CLIENT_ID: CONSOLE_CLIENT.id,
    SWITCHYARD_OIDC_CLIENT_SECRET: CONSOLE_CLIENT.secret,
    SWITCHYARD_OIDC_CLI_CLIENT_ID: CLI_CLIENT_ID,
    SWITCHYARD_OIDC_DOMAINS: 'example.com,example.org',
  };
}

/** Starts the provider. Close it after the test. */
export async function startIdentityProvider(): Promise<TestIdentityProvider> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const consoles: string[] = [];
  const requests: string[] = [];
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const server = createServer((request, response) => {
    requests.push((request.url ?? '').split('?')[0] ?? '');
    if (!state.fault?.(request, response)) handle(request, response);
  });
  const { port, close } = await listenOnFreePort(server);
  const issuer = `http://127.0.0.1:${port}`;
  const sign: TestIdentityProvider['sign'] = (claims, header = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: KEY_ID, ...header }).sign(privateKey);
  const state: TestIdentityProvider = {
    issuer,
    person: { sub: 'nobody' },
    fault: null,
    changeIdToken: null,
    requests,
    allowConsole: (url) => consoles.push(`${url}/console/sign-in/callback`),
    sign,
    issueIdToken(person, changes = {}) {
      const now = Math.floor(Date.now() / 1000);
      return sign({ iss: issuer, aud: CLI_CLIENT_ID, iat: now, exp: now + 3600, ...person, ...changes });
    },
    followSignIn: (url) => followSignIn(url, issuer),
    close,
  };
  const provider = createProvider(issuer, privateKey.export({ format: 'jwk' }), consoles, state);
  const callback = provider.callback();
  handle = (request, response) => void callback(request, response);
  return state;
}

function createProvider(
  issuer: string,
  key: object,
  consoles: readonly string[],
  state: Pick<TestIdentityProvider, 'person' | 'changeIdToken'>,
): Provider {
  const policy = interactionPolicy.base();
  const people = new Map<string, TestPerson>();
  const provider = new Provider(issuer, {
    adapter: (name: string) => createAdapter(name, consoles),
    jwks: { keys: [{ ...key, kid: KEY_ID, use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['any key of the tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    // Claims are in the ID token, as most providers are set.
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: 3600, Grant: 3600, IdToken: 3600, Interaction: 600, Session: 3600 },
    pkce: { required: () => true },
    interactions: { policy, url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ ...people.get(id), sub: id }),
    }),
  });
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) {
      await next();
      const body = context.body as { id_token?: string } | undefined;
      if (context.path === '/token' && state.changeIdToken && body?.id_token)
        context.body = { ...body, id_token: await state.changeIdToken(body.id_token) };
      return;
    }
    const { person } = state;
    people.set(person.sub, person);
    const { params } = await provider.interactionDetails(context.req, context.res);
    const grant = new provider.Grant({ accountId: person.sub, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    await provider.interactionFinished(
      context.req,
      context.res,
      { login: { accountId: person.sub }, consent: { grantId: await grant.save() } },
      { mergeWithLastSubmission: false },
    );
    context.respond = false;
  });
  return provider;
}

/** Keeps the state of the provider in memory, and knows the clients; the address of a console is known only later. */
function createAdapter(name: string, consoles: readonly string[]): Adapter {
  const rows = new Map<string, AdapterPayload>();
  const clients: Record<string, AdapterPayload> = {
    [CONSOLE_CLIENT.id]: {
      client_id: CONSOLE_CLIENT.id,
      client_secret: CONSOLE_CLIENT.secret,
      get redirect_uris() {
        return [...consoles];
      },
    },
    [CLI_CLIENT_ID]: {
      client_id: CLI_CLIENT_ID,
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: [CLI_REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token'],
    },
  };
  const findBy = (field: 'uid' | 'userCode', value: string) =>
    [...rows.values()].find((row) => row[field] === value);
  return {
    async find(id) {
      return name === 'Client' ? clients[id] : rows.get(id);
    },
    async upsert(id, payload) {
      rows.set(id, payload);
    },
    async consume(id) {
      const row = rows.get(id);
      if (row) row.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      rows.delete(id);
    },
    findByUid: async (uid) => findBy('uid', uid),
    findByUserCode: async (code) => findBy('userCode', code),
    async revokeByGrantId(grantId) {
      for (const [id, row] of rows) if (row.grantId === grantId) rows.delete(id);
    },
  };
}

/** Follows redirects at the provider with its cookies. */
async function followSignIn(url: string, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = new URL(url);
  while (next.origin === issuer) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`The provider responds ${response.status}: ${await response.text()}`);
    next = new URL(location, next);
  }
  return next;
}

/** The headers that a page of the console sends. */
const fromConsole = (server: Pick<TestServer, 'url'>) => ({
  'x-switchyard-console': '1',
  origin: server.url,
});

/** A sign-in that a browser has started: its cookie, and the address at the provider. */
export interface StartedSignOn {
  cookie: string;
  url: string;
}

/** Starts a single sign-on in a new browser. */
export async function startSignOn(server: TestServer): Promise<StartedSignOn> {
  const request = { token: null, headers: fromConsole(server) };
  const response = await server.request('GET', '/v1/sso/sign-in', request);
  if (response.status !== 200) throw new Error(`The sign-in did not start: ${response.text}`);
  return { cookie: readCookie(response), url: (response.body as { url: string }).url };
}

/** Sends the query of a callback from the browser with the cookie; `headers` replace those of the console. */
export function sendCallback(
  server: TestServer,
  cookie: string,
  callback: string,
  headers: Record<string, string> = fromConsole(server),
): Promise<TestResponse> {
  const request = { token: null, headers: { ...headers, cookie }, body: { callback } };
  return server.request('POST', '/v1/account/sessions', request);
}

/** Signs the person in at provider and console; returns the response of the console. */
export async function signOn(
  server: TestServer,
  provider: TestIdentityProvider,
  person: TestPerson,
): Promise<TestResponse> {
  provider.person = person;
  const { cookie, url } = await startSignOn(server);
  return sendCallback(server, cookie, (await provider.followSignIn(url)).search.slice(1));
}

/** Sends a request with the session of a sign-in; `target` is its method and path. */
export const requestWith = (
  server: TestServer,
  signedIn: TestResponse,
  target: `${'GET' | 'POST'} ${string}`,
  body?: unknown,
): Promise<TestResponse> => {
  const [method = '', path = ''] = target.split(' ');
  return server.request(method, path, {
    token: null,
    headers: { ...fromConsole(server), cookie: readCookie(signedIn) },
    ...(body === undefined ? {} : { body }),
  });
};

const readCookie = (response: TestResponse): string =>
  (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
