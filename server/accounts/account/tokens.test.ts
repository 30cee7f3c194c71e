import type { KeyObject } from 'node:crypto';
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { createOtherAccount, tokenSigningKey } from '../../testing/fixtures/accounts.ts';
import { startTestServer, type TestServer } from '../../testing/servers/test-server.ts';
import { Tokens } from './tokens.ts';

let server: TestServer;
let claims: Record<string, unknown>;
beforeAll(async () => {
  server = await startTestServer();
  claims = decodePart(server.token, 1);
});
afterAll(() => server.close());

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
function decodePart(token: string, part: number): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >;
}
/** Signs a token with the claims as the server does. */
function signToken(
  changes: Record<string, unknown>,
  header: Record<string, unknown> = { alg: 'EdDSA', typ: 'JWT' },
  key: KeyObject = tokenSigningKey(server),
): string {
  const text = `${encode(header)}.${encode({ ...claims, ...changes })}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}
const seconds = (): number => Math.floor(Date.now() / 1000);
const getAccount = (token: string | null) => server.request('GET', '/v1/account', { token });

test('a token names its key, account, role, time of creation and algorithm', () => {
  expect(decodePart(server.token, 0)).toEqual({ alg: 'EdDSA', typ: 'JWT' });
  expect(claims).toEqual({
    sub: expect.stringMatching(/^key-/),
    account: expect.stringMatching(/^account-/),
    role: 'root',
    iat: expect.any(Number),
  });
});

test('a token that this test signs is valid, so that each refusal below has one cause', async () => {
  expect((await getAccount(signToken({}))).status).toBe(200);
  expect((await getAccount(signToken({ exp: seconds() + 60 }))).status).toBe(200);
});

describe('401 with a message for', () => {
  const flipCharacter = (token: string, part: number): string => {
    const parts = token.split('.');
    const text = parts[part] ?? '';
    const at = Math.floor(text.length / 2);
    parts[part] = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
    return parts.join('.');
  };
  const cases: [string, () => string | null][] = [
    ['no token', () => null],
    ['text that is no token', () => 'hello'],
    ['a token of two parts', () => server.token.split('.').slice(0, 2).join('.')],
    ['a token without its signature', () => `${server.token.split('.').slice(0, 2).join('.')}.`],
    ['an altered signature', () => flipCharacter(server.token, 2)],
    ['altered claims', () => flipCharacter(server.token, 1)],
    ['an altered header', () => flipCharacter(server.token, 0)],
    ['a signature of another key', () => signToken({}, undefined, generateKeyPairSync('ed25519').privateKey)],
    ['an expired token', () => signToken({ exp: seconds() - 1 })],
    ['a token that is not valid yet', () => signToken({ nbf: seconds() + 600 })],
    ['an unknown key id', () => signToken({ sub: 'key-0000000000000000' })],
    ['a key id with a zero byte', () => signToken({ sub: 'key-\0' })],
    ['a key id that is no text', () => signToken({ sub: 7 })],
    ['another role than the key has', () => signToken({ role: 'admin' })],
    ['an unknown role', () => signToken({ role: 'king' })],
    ['another account than the key is of', () => signToken({ account: 'account-0000000000000000' })],
    ['the algorithm none', () => `${encode({ alg: 'none' })}.${encode(claims)}.`],
    [
      'HS256 with the public key as secret',
      () => {
        const secret = createPublicKey(tokenSigningKey(server)).export({ type: 'spki', format: 'pem' });
        const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
      },
    ],
    ['a header with a critical extension', () => signToken({}, { alg: 'EdDSA', crit: ['x'], x: 1 })],
    ['another algorithm over our signature', () => signToken({}, { alg: 'ES256' })],
  ];
  test.each(cases)('%s', async (_, make) => {
    const response = await getAccount(make());
    expect(response.status).toBe(401);
    expect(response.body).toEqual({ message: expect.any(String), code: 'unauthorized' });
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  test.each([
    ['Basic credentials', 'Basic cm9vdDpyb290'],
    ['the word Bearer alone', 'Bearer'],
    ['two tokens', 'Bearer a b'],
    ['empty', ''],
  ])('a header that is %s', async (_, authorization) => {
    const response = await server.request('GET', '/v1/account', { token: null, headers: { authorization } });
    expect(response.status).toBe(401);
    expect(response.body).toEqual({
      message: expect.stringContaining('Authorization'),
      code: 'unauthorized',
    });
  });
});

test('401 for the key of one account with the claims of another', async () => {
  const other = await createOtherAccount(server);
  expect((await getAccount(signToken({ account: other.id }))).status).toBe(401);
  expect((await getAccount(signToken({ sub: other.key }))).status).toBe(401);
});

test('a cached token expires', async () => {
  let now = 1_800_000_000_000;
  const key = generateKeyPairSync('ed25519').privateKey;
  const tokens = new Tokens(key, { ...systemClock, now: () => now });
  const text = `${encode({ alg: 'EdDSA' })}.${encode({ ...claims, iat: now / 1000, exp: now / 1000 + 60 })}`;
  const token = `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
  expect(await tokens.verify(token)).toMatchObject({ role: 'root', expiresAt: now + 60_000 });
  now += 59_999;
  expect(await tokens.verify(token)).not.toBeNull();
  now += 1;
  expect(await tokens.verify(token)).toBeNull();
});

test('the scheme matches in any case (RFC 9110, section 11.1)', async () => {
  const response = await server.request('GET', '/v1/account', {
    token: null,
    headers: { authorization: `bearer ${server.token}` },
  });
  expect(response.status).toBe(200);
});
