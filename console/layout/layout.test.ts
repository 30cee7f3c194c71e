/** The frame of every page: few tab stops, its states without data, connection or session, and its widths. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../testing/accessibility.ts';
import { setUpConsole } from '../testing/console-visit.ts';
import { ECHO_APP, ECHO_APP_TYPE } from '../testing/hostile-output.ts';

const TAB_STOPS_MAX = 5;

describe.skipIf(!hasBrowser)('the frame of the console', () => {
  const at = setUpConsole((server) => pushApp(server, 'echo', ECHO_APP, ECHO_APP_TYPE));

  test('has at most five tab stops before the page, and names the application and the page', async () => {
    const page = await at.open('/apps/echo/inputs');
    await page.getByRole('heading', { name: 'Inputs', level: 1 }).waitFor();
    const way = page.getByRole('navigation', { name: 'Breadcrumb' });
    await way.getByText('App echo').waitFor();
    expect(await way.locator('[aria-current=page]').innerText()).toBe('Inputs');
    let stops = 0;
    while (!(await page.evaluate(() => document.activeElement?.closest('main') !== null))) {
      await page.keyboard.press('Tab');
      stops += 1;
      expect(stops).toBeLessThanOrEqual(TAB_STOPS_MAX + 1);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
  });

  test('each page leads to the page of the documentation that explains it', async () => {
    const page = await at.open('/apps/echo/inputs');
    const docs = page.getByRole('link', { name: 'Docs' });
    for (const [path, target] of [
      ['/apps/echo/inputs', 'experiments/inputs'],
      ['/apps/echo', 'deploy/app'],
      ['/queue', 'run/queuing-prioritization'],
      ['/apps/echo/experiments/shadow/no-such-test', 'experiments/shadow'],
    ] as const) {
      await page.goto(`${at.server.url}/console${path}`);
      await docs.waitFor();
      expect(await docs.getAttribute('href'), path).toBe(`/docs/using-switchyard/${target}`);
    }
  });

  test('has the chosen theme before any script of its files runs', async () => {
    const page = await at.open('/queue');
    await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
    const readGround = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await readGround();
    await page.evaluate(() => localStorage.setItem('theme', 'dark'));
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/*.js', async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    await page.locator('.bone').first().waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    const dark = await readGround();
    expect(dark).not.toBe(light);
    release();
    await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
    expect(await readGround()).toBe(dark);
  });

  test('shows its shape before the API answers', async () => {
    const page = await at.open('/queue');
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/**', async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    await page.locator('.bone').first().waitFor();
    expect(await page.getByRole('heading').count()).toBe(0);
    release();
    await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
    expect(await page.locator('.bone').count()).toBe(0);
  });

  test('says that the connection is lost, turns actions off, and reads the page again when it is back', async () => {
    const page = await at.open('/apps/echo/runs', { address: at.server.url });
    const action = page.getByRole('link', { name: 'New run' });
    await action.waitFor();
    await page.context().setOffline(true);
    await page.getByText('Connection lost').waitFor();
    await page.locator('main header [inert]').getByText('New run').waitFor();
    await page.context().setOffline(false);
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await action.click();
    await page.getByRole('heading', { name: 'New run', level: 1 }).waitFor();
  });

  test('signs in again above the page, which keeps what was typed', async () => {
    const page = await at.open('/apps/echo');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Rename' }).click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('Tuesday');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByLabel('Token').fill(at.server.token);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('Tuesday');
  });

  test('is a bar of icons on a tablet and a drawer on a phone', async () => {
    const page = await at.open('/queue', { viewport: { width: 1024, height: 700 } });
    const navigation = page.getByRole('navigation', { name: 'Console' });
    await navigation.getByRole('link', { name: 'Queue' }).waitFor();
    expect((await navigation.boundingBox())?.width).toBe(56);
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await navigation.getByRole('link', { name: 'Workers' }).click();
    await page.getByRole('heading', { name: 'Workers' }).waitFor();
    expect(await navigation.isVisible()).toBe(false);
  });
});
