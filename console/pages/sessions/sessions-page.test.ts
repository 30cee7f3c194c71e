/** Sessions of the console, in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

describe.skipIf(!hasBrowser)('the sessions', () => {
  const at = setUpConsole();

  test('marks this session, and ends another one', async () => {
    const other = await at.open('/account/sessions', { role: 'viewer' });
    await other.getByText('This session').waitFor();
    expect(await other.getByRole('row').count()).toBe(2);
    const page = await at.open('/account/sessions', { viewport: { width: 1200, height: 800 } });
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(await page.getByText('This session').count()).toBe(1);
    const menu = page.getByRole('button', { name: /^Actions of/ });
    await menu.click();
    await page.getByRole('button', { name: /^End the session/ }).click();
    await page.getByRole('button', { name: 'Keep' }).click();
    await menu.click();
    await page.getByRole('button', { name: /^End the session/ }).click();
    await page.getByRole('button', { name: 'End session' }).click();
    await expect.poll(() => menu.count()).toBe(0);
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/account/sessions');
    await page.getByText('This session').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
