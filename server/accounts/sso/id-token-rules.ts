/**
 * Tells ID tokens from other tokens of the same provider, which have its signature, the same issuer and often the same
 * audience. Every service in the audience of an access token gets it, and could act as its person here. Pure.
 *
 * A sign-in that our page starts sends a nonce, and `redeemCode` of identity-provider.ts refuses a token without it. A bearer
 * token comes from a sign-in of the published client, which sends no nonce. There, the absence of `nonce`, `at_hash` and
 * `auth_time` refuses only a token with other marks of an access token.
 */
import type { JWTHeaderParameters, JWTPayload } from 'jose';
import { quoteValue } from '../../platform/http/errors/problem.ts';

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

/** Returns the sentence that refuses a verified token which is no ID token for this audience alone; else null. */
export function findIdTokenRefusal(
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
