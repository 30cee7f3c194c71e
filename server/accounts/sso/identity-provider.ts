/**
 * The identity provider: its discovery document, the redemption of codes, and the verification of ID tokens. The server
 * starts without it. Each use reads the discovery document when it is not known, and an unreachable provider is a 503 for
 * the sign-in alone: API keys keep working.
 */
import {
  createRemoteJWKSet,
  type JWTHeaderParameters,
  type JWTPayload,
  customFetch as jwksFetch,
  jwtVerify,
} from 'jose';
import * as openid from 'openid-client';
import type { Clock } from '../../platform/clock.ts';
import { NotReadyError, quoteValue, unauthorized } from '../../platform/http/errors/problem.ts';
import { errorMessage, type Log } from '../../platform/log.ts';
import type { SsoSettings } from '../../platform/settings/sso-settings.ts';
import { type Claims, completeClaims } from './person.ts';
import { explainProviderError } from './provider-errors.ts';
import type { SignOn } from './sign-on-states.ts';

const MINUTE_MS = 60_000;
/** The discovery document is read again after this time; an older one stays in use while the provider is unreachable. */
const DISCOVERY_MAX_AGE_MS = 60 * MINUTE_MS;
/** A removed key of the provider stops verifying tokens within this time. */
const KEYS_MAX_AGE_MS = 60 * MINUTE_MS;
/** After a failure nobody asks the provider for this time, so that callers do not wait for it one after the other. */
const FAILURE_PAUSE_MS = 5_000;
const CLOCK_TOLERANCE_SECONDS = 30;
/** Only signatures with a public key: with HMAC the client's secret would be one that can sign. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** The longest time for a request to the provider with its response. */
const TIMEOUT_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

/** Keycloak writes the kind of each token into the claim `typ`: `ID`, `Bearer`, `Refresh`, `Logout`. */
const ID_TOKEN_TYPE = 'ID';
/** Cognito writes it into the claim `token_use`. */
const ID_TOKEN_USE = 'id';
/** Claims by which access tokens of Auth0, Entra, Okta and RFC 9068 say what they permit; no ID token has one. */
const PERMISSION_CLAIMS = ['scope', 'scp', 'gty', 'cid', 'appid'] as const;
/**
 * Claims of an ID token about the sign-in or the access token beside it. The published command line sends no nonce, and some
 * providers then write none of them, so their absence alone refuses no token. An access token has the claim `client_id`
 * (RFC 9068, section 2.2).
 */
const SIGN_IN_CLAIMS = ['nonce', 'at_hash', 'auth_time'] as const;
const ADVICE = 'Send the ID token, not the access token.';
const CLIENT_CLAIM = 'client_id';

/** Discovery documents and key sets have a few kB; those of the largest providers 30 kB. */
const BODY_BYTES_MAX = 512 * 1024;

interface Discovered {
  metadata: openid.ServerMetadata;
  keys: ReturnType<typeof createRemoteJWKSet>;
  readAt: number;
}

interface Parts {
  settings: SsoSettings;
  clock: Clock;
  log: Log;
  timeoutMs?: number;
  /** Absent on a real machine. */
  fetchFromProvider?: Fetch | undefined;
}

/** Sends a request to the provider. */
export type Fetch = typeof globalThis.fetch;

/** The provider of the settings. */
export class IdentityProvider {
  readonly #settings: SsoSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #timeoutMs: number;
  readonly #fetch: (url: string, request: ProviderRequest) => Promise<Response>;
  #discovered: Discovered | null = null;
  #discovery: Promise<Discovered> | null = null;
  #failure: { at: number; error: unknown } | null = null;

  constructor({ settings, clock, log, timeoutMs = TIMEOUT_MS, fetchFromProvider = fetch }: Parts) {
    this.#fetch = (url, request) => fetchWhole(fetchFromProvider, url, request);
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  /** Logs whether the provider is reachable. Never throws, because the server starts without it. */
  async check(): Promise<void> {
    const { issuer } = this.#settings;
    try {
      await this.#discover();
      this.#log.info({ issuer }, 'Identity provider reached');
    } catch (error) {
      this.#log.warn(
        { issuer, error: errorMessage(error) },
        'Identity provider unreachable: single sign-on fails until it responds, API keys work',
      );
    }
  }

  /** Returns the address at the provider that starts a sign-in. */
  async buildSignOnUrl(signOn: SignOn, redirectUri: string): Promise<string> {
    const { metadata } = await this.#discover();
    const url = openid.buildAuthorizationUrl(this.#configure(metadata), {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes,
      state: signOn.state,
      nonce: signOn.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(signOn.codeVerifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  /**
   * Redeems the code of a callback address and returns the claims of its ID token, whose signature is verified. With
   * `isIncomplete`, claims of the userinfo endpoint complete them. Throws a 401 for an invalid code or token, and a 403 for
   * a sign-in that the provider refused. Throws a 503 for a provider without a valid response.
   */
  async redeemCode(
    callback: URL,
    signOn: SignOn,
    isIncomplete: (claims: Claims) => boolean,
  ): Promise<Claims> {
    const { metadata } = await this.#discover();
    const configuration = this.#configure(metadata);
    try {
      const tokens = await openid.authorizationCodeGrant(configuration, callback, {
        expectedState: signOn.state,
        expectedNonce: signOn.nonce,
        pkceCodeVerifier: signOn.codeVerifier,
        idTokenExpected: true,
      });
      const claims = await this.verifyIdToken(tokens.id_token ?? '', this.#settings.clientId);
      if (!isIncomplete(claims) || metadata.userinfo_endpoint === undefined) return claims;
      const more: Claims = await openid.fetchUserInfo(configuration, tokens.access_token, String(claims.sub));
      return completeClaims(claims, more);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Returns the claims of an ID token that the provider signed for the client. Throws a 401 for any other one. */
  async verifyIdToken(token: string, audience: string): Promise<Claims> {
    const { metadata, keys } = await this.#discover();
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        issuer: metadata.issuer,
        audience,
        requiredClaims: ['sub', 'iat', 'exp'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(this.#clock.now()),
      });
      const refusal = findIdTokenRefusal(protectedHeader, payload, audience);
      if (refusal !== null) throw unauthorized(refusal);
      return payload;
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #explain(error: unknown): unknown {
    const { problem, isFault } = explainProviderError(error, this.#settings.issuer);
    if (isFault)
      this.#log.warn(
        { issuer: this.#settings.issuer, error: errorMessage(error) },
        'Request to the identity provider failed',
      );
    return problem;
  }

  async #discover(): Promise<Discovered> {
    const known = this.#discovered;
    const now = this.#clock.now();
    if (known && now - known.readAt < DISCOVERY_MAX_AGE_MS) return known;
    try {
      if (this.#failure && now - this.#failure.at < FAILURE_PAUSE_MS) throw this.#failure.error;
      this.#discovery ??= this.#readDiscovery();
      return await this.#discovery;
    } catch (error) {
      if (known) return known;
      throw new NotReadyError(
        `The identity provider ${this.#settings.issuer} gives no valid response: ${errorMessage(error)} API keys work meanwhile; try again later.`,
        RETRY_AFTER_SECONDS,
      );
    } finally {
      this.#discovery = null;
    }
  }

  async #readDiscovery(): Promise<Discovered> {
    try {
      const configuration = await openid.discovery(
        new URL(this.#settings.issuer),
        this.#settings.clientId,
        undefined,
        openid.None(),
        {
          [openid.customFetch]: this.#fetch,
          timeout: this.#timeoutMs / 1000,
          execute: this.#isInsecure() ? [openid.allowInsecureRequests] : [],
        },
      );
      const metadata = configuration.serverMetadata();
      const keysUrl = this.#checkEndpoints(metadata);
      const keys = createRemoteJWKSet(keysUrl, {
        [jwksFetch]: this.#fetch,
        timeoutDuration: this.#timeoutMs,
        cacheMaxAge: KEYS_MAX_AGE_MS,
      });
      this.#failure = null;
      this.#discovered = { metadata, keys, readAt: this.#clock.now() };
      return this.#discovered;
    } catch (error) {
      const reason = explainProviderError(error, this.#settings.issuer).reason;
      this.#failure = { at: this.#clock.now(), error: new Error(reason, { cause: error }) };
      throw this.#failure.error;
    }
  }

  /** Returns the address of the key set. Throws for a document without an endpoint, or with one that is not safe. */
  #checkEndpoints(metadata: openid.ServerMetadata): URL {
    const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = metadata;
    const required = { authorization_endpoint, token_endpoint, jwks_uri };
    for (const [name, value] of Object.entries({ userinfo_endpoint, ...required })) {
      if (value === undefined && !(name in required)) continue;
      const url = value !== undefined && URL.canParse(value) ? new URL(value) : null;
      if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && this.#isInsecure()))
        throw new Error(`The discovery document has no https:// address as ${name}.`);
    }
    return new URL(String(jwks_uri));
  }

  /** The settings allow http:// only for an issuer on this machine. */
  #isInsecure(): boolean {
    return this.#settings.issuer.startsWith('http:');
  }

  #configure(metadata: openid.ServerMetadata): openid.Configuration {
    const { clientId, clientSecret } = this.#settings;
    const client = {
      [openid.clockSkew]: Math.round((this.#clock.now() - Date.now()) / 1000),
      [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
    };
    const configuration = new openid.Configuration(
      metadata,
      clientId,
      client,
      this.#chooseAuthentication(metadata, clientSecret),
    );
    configuration[openid.customFetch] = this.#fetch;
    configuration.timeout = this.#timeoutMs / 1000;
    if (this.#isInsecure()) openid.allowInsecureRequests(configuration);
    return configuration;
  }

  /** Basic is the default of OpenID Connect; a provider that does not list it gets the secret in the body. */
  #chooseAuthentication(metadata: openid.ServerMetadata, secret: string | null): openid.ClientAuth {
    if (secret === null) return openid.None();
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return methods.includes('client_secret_basic')
      ? openid.ClientSecretBasic(secret)
      : openid.ClientSecretPost(secret);
  }
}

/**
 * Returns the sentence that refuses a verified token which is no ID token for this audience alone; else null. Every
 * service in the audience of an access token gets it, and could act as its person here. Pure.
 *
 * A sign-in that our page starts sends a nonce, and `redeemCode` refuses a token without it.
 * A bearer token comes from a sign-in of the published client, which sends no nonce. There, the absence of `nonce`,
 * `at_hash` and `auth_time` refuses only a token with other marks of an access token.
 */
function findIdTokenRefusal(
  header: Pick<JWTHeaderParameters, 'typ'>,
  claims: JWTPayload,
  audience: string,
): string | null {
  const { aud, azp, typ, token_use: use } = claims;
  if ((header.typ ?? 'JWT').toUpperCase() !== 'JWT' || claims.events !== undefined)
    return `The token is of the type ${quoteValue(header.typ)}; it must be an ID token.`;
  if (typ !== undefined && typ !== ID_TOKEN_TYPE)
    return `The claim typ is ${quoteValue(typ)}; an ID token has "${ID_TOKEN_TYPE}". ${ADVICE}`;
  if (use !== undefined && use !== ID_TOKEN_USE)
    return `The claim token_use is ${quoteValue(use)}; an ID token has "${ID_TOKEN_USE}". ${ADVICE}`;
  if (Array.isArray(aud) && aud.length !== 1)
    return `The ID token is for ${aud.length} clients (aud); it must be for this one alone.`;
  if (azp !== undefined && azp !== audience) return 'The ID token was issued to another client (azp).';
  const permission = PERMISSION_CLAIMS.find((name) => claims[name] !== undefined);
  if (permission !== undefined)
    return `The token has the claim ${permission}, as an access token has. ${ADVICE}`;
  const isKnown =
    typ !== undefined || use !== undefined || SIGN_IN_CLAIMS.some((name) => claims[name] !== undefined);
  if (!isKnown && claims[CLIENT_CLAIM] !== undefined)
    return `The token has the claim ${CLIENT_CLAIM} and none of ${SIGN_IN_CLAIMS.join(', ')}, as an access token has. ${ADVICE}`;
  return null;
}

/** The part of a request that openid-client and jose set. */
interface ProviderRequest {
  method?: string;
  headers?: HeadersInit;
  body?: unknown;
  signal?: AbortSignal;
}

/**
 * Sends a request and reads its whole body. Throws when the signal of the request ends first, and for a body above
 * the limit. A provider that hangs, that sends an endless body or that redirects elsewhere must cost this server no
 * more than a failed sign-in.
 */
async function fetchWhole(send: Fetch, url: string, request: ProviderRequest): Promise<Response> {
  const { method = 'GET', headers, body, signal } = request;
  const response = await send(url, {
    method,
    ...(headers ? { headers } : {}),
    ...(isFormBody(body) ? { body } : {}),
    ...(signal ? { signal } : {}),
    // A code or a secret goes only to the endpoint of the discovery document.
    redirect: 'manual',
  });
  const { status } = response;
  return new Response(status === 204 || status === 304 ? null : await readBody(response, url), {
    status,
    headers: response.headers,
  });
}

function isFormBody(body: unknown): body is string | URLSearchParams {
  return typeof body === 'string' || body instanceof URLSearchParams;
}

async function readBody(response: Response, url: string): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the body and closes the connection.
    if (bytes > BODY_BYTES_MAX)
      throw new Error(`The response of ${new URL(url).origin} has more than ${BODY_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
