/** Signing in to the console, and out of it. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { ssoSettings, startIdentityProvider } from '@switchyard/server/testing/http/identity-provider.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { PHONE, setUpConsole } from '../../testing/console-visit.ts';

const provider = await startIdentityProvider();
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' };

describe.skipIf(!hasBrowser)('the sign-in', () => {
  const at = setUpConsole(async ({ url }) => provider.allowConsole(url), { env: ssoSettings(provider) });
  afterAll(() => provider.close());

  test('a link opens the console signed in, and leaves no ticket in the address', async () => {
    const { body } = await at.server.request('POST', '/v1/account/sign-in-links');
    const { url } = body as { url: string };
    const page = await at.openSignedOut(url.slice(`${at.server.url}/console`.length));
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    expect(page.url()).toBe(`${at.server.url}/console/`);
    await page.goBack();
    expect(page.url()).not.toContain('ticket');
  });

  test('a link leads to the page that it names', async () => {
    const { body } = await at.server.request('POST', '/v1/account/sign-in-links');
    const { url } = body as { url: string };
    const path = `${url.slice(`${at.server.url}/console`.length)}&next=${encodeURIComponent('/nowhere')}`;
    const page = await at.openSignedOut(path);
    await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
    expect(page.url()).toBe(`${at.server.url}/console/nowhere`);
  });

  test('a used link explains itself and offers a token', async () => {
    const { body } = await at.server.request('POST', '/v1/account/sign-in-links');
    const { url } = body as { url: string };
    const path = url.slice(`${at.server.url}/console`.length);
    const first = await at.openSignedOut(path);
    await first.getByRole('heading', { name: 'Applications' }).waitFor();
    await first.context().clearCookies();
    await first.goto(url);
    await first.getByRole('alert').filter({ hasText: 'already used' }).waitFor();
    expect(await first.getByLabel('API token').isVisible()).toBe(true);
  });

  test('a token signs in and leads to the page that was asked for', async () => {
    const page = await at.openSignedOut('/?from=a-bookmark');
    await page.getByLabel('API token').fill('rubbish');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'not known here' }).waitFor();
    await page.getByLabel('API token').fill(at.server.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
  });

  test('the identity provider signs in and leads to the page that was asked for', async () => {
    provider.person = ADA;
    const page = await at.openSignedOut('/sign-in?next=%2Faccount%2Fsessions');
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(page.url()).toBe(`${at.server.url}/console/account/sessions`);
    expect((await at.server.request('GET', '/v1/account/members')).text).toContain(ADA.email);
    await page.goBack();
    expect(page.url()).not.toContain('code=');
  });

  test('a person whom the server refuses reads why, and can sign in otherwise', async () => {
    provider.person = { ...ADA, sub: 'eve', email_verified: false };
    const page = await at.openSignedOut('/sign-in', { viewport: PHONE });
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).click();
    await page.getByRole('alert').filter({ hasText: 'not verified your e-mail address' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'Back to the sign-in' }).click();
    await page.getByLabel('API token').waitFor();
  });

  test('a browser at another address of the server moves to the public one', async () => {
    provider.person = ADA;
    const page = await at.openSignedOut('/sign-in');
    await page.goto(`${at.server.url.replace('127.0.0.1', 'localhost')}/console/sign-in`);
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).click();
    await page.waitForURL(`${at.server.url}/console/sign-in?*`);
    await page.getByRole('button', { name: 'Continue with 127.0.0.1' }).click();
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
  });

  test('a callback of nobody signs nobody in', async () => {
    const page = await at.openSignedOut('/sign-in/callback?code=1e5&state=b');
    await page.getByRole('alert').filter({ hasText: 'not one of this browser' }).waitFor();
  });

  test('no script can read a credential', async () => {
    const page = await at.open();
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    expect(await page.evaluate(() => document.cookie)).toBe('');
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(
      'ey',
    );
  });

  test.each(['https://evil.example', '//evil.example', '/\\evil.example'])(
    'never leads to %s',
    async (next) => {
      const page = await at.openSignedOut(`/sign-in?next=${encodeURIComponent(next)}`);
      await page.getByLabel('API token').fill(at.server.token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Applications' }).waitFor();
      expect(page.url()).toBe(`${at.server.url}/console/`);
    },
  );

  test('signing out ends the session', async () => {
    const page = await at.open();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${at.server.url}/console`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openSignedOut('/sign-in', { viewport: PHONE });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
