/** The pages whose requests a session may authenticate, and the names of its cookies. */
import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';
import { expect, test } from 'vitest';
import { formatSessionCookie, isFromOwnPage, readSessionCookie } from './session-cookie.ts';

const PLAIN = 'http://127.0.0.1:8080';
const TLS = 'https://plans.example';

test.each([
  ['its own page', PLAIN, { origin: PLAIN, host: '127.0.0.1:8080' }, true],
  ['its own page under a name of the machine', PLAIN, { origin: 'http://box:8080', host: 'box:8080' }, true],
  ['a page behind a proxy with TLS', PLAIN, { origin: TLS, host: 'plans.example' }, true],
  ['a page behind a proxy that replaces the Host', TLS, { origin: TLS, host: 'internal:8080' }, true],
  ['another port', PLAIN, { origin: 'http://127.0.0.1:1', host: '127.0.0.1:8080' }, false],
  ['a name that begins with its own', TLS, { origin: `${TLS}.evil.example`, host: 'plans.example' }, false],
  ['its name without TLS', TLS, { origin: 'http://plans.example', host: 'plans.example' }, false],
  ['an opaque origin', PLAIN, { origin: 'null', host: '127.0.0.1:8080' }, false],
  ['an empty origin', PLAIN, { origin: '', host: '127.0.0.1:8080' }, false],
  ['no origin', PLAIN, { host: '127.0.0.1:8080' }, false],
])('a change from %s', (_title, publicUrl, headers, isAllowed) => {
  expect(isFromOwnPage(publicUrl, 'POST', { ...headers, [CONSOLE_HEADER]: '1' })).toBe(isAllowed);
  expect(isFromOwnPage(publicUrl, 'POST', headers)).toBe(false);
});

test('a read needs no origin, and still the header', () => {
  expect(isFromOwnPage(PLAIN, 'GET', { host: '127.0.0.1:8080', [CONSOLE_HEADER]: '1' })).toBe(true);
  expect(isFromOwnPage(PLAIN, 'GET', { host: '127.0.0.1:8080' })).toBe(false);
});

test('under TLS the cookie is secure, and no other host and no page without TLS can set it', () => {
  const cookie = formatSessionCookie(TLS, 'secret', 60);
  expect(cookie).toBe(
    '__Host-switchyard_session=secret; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure',
  );
  expect(readSessionCookie(TLS, { cookie: 'switchyard_session=forged' })).toBeNull();
  expect(readSessionCookie(TLS, { cookie: 'a=b; __Host-switchyard_session=secret' })).toBe('secret');
});
