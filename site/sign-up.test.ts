/** The sign-up page in a browser, on a server with sign-up open, and on one with it closed. */
import { collectPageErrors, hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { builtSiteFolder, setUpSite } from './testing/built-site.ts';
import { findLowContrastText } from './testing/contrast.ts';

const at = setUpSite((site) => startTestServer({ site }));
let closed: TestServer;
const problems: string[] = [];

async function visit(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await at.visitors.newPage(options);
  collectPageErrors(page, problems);
  await page.goto(url, { waitUntil: 'networkidle' });
  return page;
}

/** Fetches the owner of the token on the page. */
async function fetchOwner(page: Page): Promise<unknown> {
  const token = await page.locator('[data-place=token]').textContent();
  return (await at.site.request('GET', '/v1/account', { token })).body;
}

const done = (page: Page, what: 'Account created' | 'Invite accepted'): Promise<void> =>
  page.getByRole('heading', { name: what }).waitFor();
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

async function invite(email: string): Promise<{ id: string; invite_url: string }> {
  const response = await at.site.request('POST', '/v1/account/members', {
    body: { email, role: 'developer' },
  });
  return response.body as { id: string; invite_url: string };
}

describe.skipIf(!hasBrowser)('the sign-up page', () => {
  beforeAll(async () => {
    closed = await startTestServer({ site: builtSiteFolder, env: { SWITCHYARD_SIGN_UP: 'closed' } });
  });
  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });
  afterAll(() => closed?.close());

  test('creates an account by keyboard alone, and shows the token with the next step', async () => {
    const page = await visit(`${at.site.url}/sign-up`);
    await page.getByLabel('Name of the account').focus();
    await page.keyboard.type('Delivery <b>planning</b>');
    await page.keyboard.press('Tab');
    await page.keyboard.type('ada@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await done(page, 'Account created');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Account created');
    expect(await fetchOwner(page)).toMatchObject({
      name: 'Delivery <b>planning</b>',
      key: { role: 'admin', user_email: 'ada@example.com' },
    });
    const command = (await page.locator('[data-place=command]').textContent()) ?? '';
    const token = (await page.locator('[data-place=token]').textContent()) ?? '';
    expect(command).toContain(`export SWITCHYARD_URL=${at.site.url}\n`);
    expect(command).toContain(`export SWITCHYARD_TOKEN=${token}\n`);
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(`${stored}${page.url()}`).not.toContain(token);
    expect(await page.getByRole('button', { name: 'Create account' }).isVisible()).toBe(false);
  });

  test('copies the token with its button', async () => {
    const page = await visit(`${at.site.url}/sign-up`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByLabel('Name of the account').fill('Any name');
    await page.getByLabel('Your e-mail address').fill('ada@example.com');
    await page.getByRole('button', { name: 'Create account' }).click();
    await done(page, 'Account created');
    await page.locator('figure:has([data-place=token]) [data-copy]').click();
    await page.locator('[data-copy=done]').waitFor();
    const token = await page.locator('[data-place=token]').textContent();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
  });

  test('sends a form once for several clicks', async () => {
    const page = await visit(`${at.site.url}/sign-up`);
    await page.getByLabel('Name of the account').fill('Pressed twice');
    await page.getByLabel('Your e-mail address').fill('ada@example.com');
    await page.locator('[data-form=account]').evaluate((form: HTMLFormElement) => {
      for (let times = 0; times < 3; times += 1) form.requestSubmit();
    });
    await done(page, 'Account created');
    const accounts = (await at.site.request('GET', '/v1/accounts')).body as { name: string }[];
    expect(accounts.filter((one) => one.name === 'Pressed twice')).toHaveLength(1);
  });

  test('shows the error message of the API, and accepts the form again', async () => {
    const page = await visit(`${at.site.url}/sign-up`);
    await page.getByLabel('Name of the account').fill('Any name');
    await page.getByLabel('Your e-mail address').fill('ada@example.com');
    // The browser itself would refuse this value.
    await page.getByLabel('Name of the account').evaluate((input: HTMLInputElement) => {
      input.minLength = 0;
      input.value = 'ab';
    });
    await page.keyboard.press('Enter');
    const alert = page.getByRole('alert').filter({ hasText: 'name is "ab"' });
    await alert.waitFor();
    expect(await alert.textContent()).toContain('3 to 48 characters');
    await page.getByLabel('Name of the account').fill('abc');
    await page.keyboard.press('Enter');
    await done(page, 'Account created');
  });

  test('accepts an invite once, and removes it from the address', async () => {
    const { invite_url } = await invite('grace@example.com');
    const page = await visit(invite_url);
    expect(await page.getByLabel('Name of the account').isVisible()).toBe(false);
    await page.getByLabel('Your name').fill('Grace');
    await page.getByRole('button', { name: 'Accept the invite' }).click();
    await done(page, 'Invite accepted');
    expect(await fetchOwner(page)).toMatchObject({
      key: { role: 'developer', user_email: 'grace@example.com' },
    });
    expect(page.url()).toBe(`${at.site.url}/sign-up`);

    const again = await visit(invite_url);
    await again.getByRole('button', { name: 'Accept the invite' }).click();
    await again.getByRole('alert').filter({ hasText: 'used already' }).waitFor();
  });

  test('reports a closed sign-up, and still accepts invites', async () => {
    const page = await visit(`${closed.url}/sign-up`);
    await page.getByText('Sign-up is closed on this server').waitFor();
    expect(await page.getByLabel('Name of the account').isVisible()).toBe(false);
    const body = { email: 'eve@example.com', role: 'viewer' };
    const response = await closed.request('POST', '/v1/account/members', { body });
    await page.goto((response.body as { invite_url: string }).invite_url);
    await page.getByRole('button', { name: 'Accept the invite' }).click();
    await done(page, 'Invite accepted');
  });

  test('without scripts shows the call in place of the form', async () => {
    const page = await visit(`${at.site.url}/sign-up`, { javaScriptEnabled: false });
    expect(await page.locator('main form:visible').count()).toBe(0);
    expect(await page.getByText('/v1/accounts').first().isVisible()).toBe(true);
  });

  test.for([
    { viewport: { width: 1440, height: 900 }, colorScheme: 'light' as const },
    { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const },
  ])('has enough contrast in every state and never scrolls sideways: %o', async (options) => {
    const long = `${'x'.repeat(60)}@${'y'.repeat(60)}`;
    const { invite_url } = await invite(`${options.colorScheme}${long}`);
    const page = await visit(`${at.site.url}/sign-up`, options);
    const look = async (): Promise<void> => {
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(await page.evaluate(findLowContrastText, 4.5)).toEqual([]);
    };
    await look();
    await page.goto(invite_url.replace(/.$/, ''), { waitUntil: 'networkidle' });
    await page.getByRole('button', { name: 'Accept the invite' }).click();
    await page.getByRole('alert').filter({ hasText: 'not one of this server' }).waitFor();
    await look();
    await page.goto(invite_url, { waitUntil: 'networkidle' });
    await page.getByRole('button', { name: 'Accept the invite' }).click();
    await done(page, 'Invite accepted');
    await look();
    await page.goto(`${closed.url}/sign-up`, { waitUntil: 'networkidle' });
    await look();
  });
});
