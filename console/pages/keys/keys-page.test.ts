/** Keys of the account in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

/** Height in pixels of the heading with the table of three keys. */
const SCREENSHOT_HEIGHT = 310;

describe.skipIf(!hasBrowser)('the keys', () => {
  const at = setUpConsole();

  test('a new key shows its token once, works, and ends with its descendants', async () => {
    const page = await at.open('/account/keys');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('nightly plans');
    await page.getByLabel('Role').selectOption('developer');
    await page.getByRole('button', { name: 'Create key' }).click();
    const token = await page.getByRole('dialog').locator('code').textContent();
    await page.getByRole('button', { name: 'Done' }).click();
    const child = await at.server.request('POST', '/v1/account/keys', {
      token,
      body: { name: 'child', role: 'viewer' },
    });
    expect(child.status).toBe(201);
    await page.reload();
    await page
      .getByRole('row', { name: /nightly plans/ })
      .getByText('developer')
      .waitFor();
    expect(await page.content()).not.toContain(token);
    await saveScreenshot(
      page.getByRole('main').locator('header'),
      'using-switchyard/accounts/console-keys.png',
      SCREENSHOT_HEIGHT,
    );

    await page.getByRole('button', { name: 'Actions of nightly plans' }).click();
    await page.getByRole('button', { name: 'Revoke nightly plans' }).click();
    expect(await page.getByLabel('Also revoke what was made with it: the keys child').isChecked()).toBe(true);
    await page.getByLabel('Type nightly plans to confirm').fill('nightly plans');
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('row', { name: /nightly plans/ }).waitFor({ state: 'detached' });
    expect(await page.getByRole('row', { name: /child/ }).count()).toBe(0);
    expect((await at.server.request('GET', '/v1/account', { token })).status).toBe(401);
  });

  test('the last root key stays, with the refusal of the server', async () => {
    const page = await at.open('/account/keys');
    await page
      .getByRole('button', { name: /^Actions of/ })
      .last()
      .click();
    const revoke = page.getByRole('button', { name: /^Revoke/ });
    const name = (await revoke.getAttribute('aria-label'))?.slice('Revoke '.length) ?? '';
    await revoke.click();
    await page.getByLabel(`Type ${name} to confirm`).fill(name);
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('alert').filter({ hasText: 'last' }).waitFor();
  });

  test('an operator can grant no role above its own', async () => {
    const page = await at.open('/account/keys', { role: 'operator' });
    await page.getByRole('button', { name: 'New key' }).click();
    expect(await page.getByLabel('Role').locator('option').allTextContents()).toEqual([
      'operator',
      'viewer',
      'unassigned',
    ]);
    expect(await page.getByLabel('Owner').count()).toBe(0);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/account/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
