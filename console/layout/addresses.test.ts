/** Addresses of the console: each beginning of one is a page, and one that names nothing says where its list is. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../testing/accessibility.ts';
import { setUpConsole } from '../testing/console-visit.ts';
import { ECHO_APP, ECHO_APP_TYPE } from '../testing/hostile-output.ts';

describe.skipIf(!hasBrowser)('the addresses of the console', () => {
  const at = setUpConsole((server) => pushApp(server, 'echo', ECHO_APP, ECHO_APP_TYPE));

  test.each([
    ['/apps', '/', 'Applications'],
    ['/account', '/account/members', 'Members'],
    ['/marketplace/nobody', '/marketplace', 'Marketplace'],
    ['/apps/echo/instances', '/apps/echo#instances', 'Instances'],
    ['/apps/echo/versions', '/apps/echo#versions', 'Versions'],
    ['/apps/echo/experiments/batch', '/apps/echo/experiments', 'Experiments'],
  ])('%s leads to %s', async (path, target, heading) => {
    const page = await at.open(path);
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor();
    expect(page.url()).toBe(`${at.server.url}/console${target}`);
  });

  test.each([
    ['/apps/echo/runs/run-of-yesterday', 'There is no such run', 'All runs', '/apps/echo/runs'],
    ['/apps/echo/inputs/monday', 'There is no such input', 'All inputs', '/apps/echo/inputs'],
    ['/apps/gone', 'There is no such application', 'All applications', '/'],
    ['/webhooks/gone', 'There is no such webhook', 'All webhooks', '/webhooks'],
    ['/nowhere', 'There is nothing at this address', 'All applications', '/'],
  ])('%s says that nothing is there, and offers its list', async (path, title, link, target) => {
    const page = await at.openOnPhone(path);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.getByRole('main').getByRole('link', { name: link }).press('Enter');
    await page.waitForURL(`${at.server.url}/console${target}`);
  });

  test('a page that fails says so, folds the words of the API, and loads by itself', async () => {
    const page = await at.open('/account/keys');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.route('**/v1/account/members*', (route) =>
      route.fulfill({ status: 400, json: { error: 'The database is busy with a backup.' } }),
    );
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.getByRole('alert').filter({ hasText: 'busy with a backup' }).waitFor();
    await page.getByText('Details for support').click();
    await page.getByText('listMembers, status 400').waitFor();
    await page.unroute('**/v1/account/members*');
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
  });

  test('a slow page shows its shape before its data', async () => {
    const page = await at.open('/account/keys');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/account/members*', async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    release();
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
  });
});
