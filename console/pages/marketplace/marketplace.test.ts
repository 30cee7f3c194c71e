/** The marketplace in the console: an account publishes an app, and another subscribes to it. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { nodeApp, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import {
  type AccountServer,
  createAccountServer,
} from '@switchyard/server/testing/servers/account-server.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

const APP = 'quay';
/** Height in pixels of the heading with an app and its subscription. */
const SCREENSHOT_HEIGHT = 360;

/** Opens a dialog by the keyboard. */
async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).focus();
  await page.keyboard.press('Enter');
}

/** Fills the confirmation of a dialog and sends it by the keyboard. */
async function confirm(page: Page, word: string): Promise<void> {
  await page.getByLabel(`Type ${word} to confirm`).fill(word);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

describe.skipIf(!hasBrowser)('the marketplace', () => {
  let partner: AccountServer;
  const at = setUpConsole(async (server) => {
    partner = await createAccountServer(server);
    for (const owner of [server, partner]) {
      const id = owner === partner ? APP : 'own';
      await owner.client.call('createApplication', { body: { id, name: `App ${id}` } });
      await pushApp(owner, id, nodeApp('() => ({ solution: 1 })'));
      const params = { application_id: id };
      await owner.client.call('createVersion', { params, body: { id: 'first', name: 'First version' } });
    }
    const params = { partner_id: partner.accountId, marketplace_app_id: APP };
    await partner.client.call('createMarketplaceApp', {
      params,
      body: { id: APP, ref_app_id: APP, title: 'Quay planning', categories: ['ports'] },
    });
    await partner.client.call('createMarketplaceVersion', {
      params,
      body: { id: 'v1', ref_app_version_id: 'first', change_log: ['Plans berths', 'Reads tides'] },
    });
    await partner.client.call('updateMarketplaceApp', { params, body: { state: 'released' } });
  });

  test('an account subscribes, finds what the application lacks and why, and unsubscribes', async () => {
    const page = await at.open('/marketplace');
    await page.getByText('No subscription yet.').waitFor();
    await page.getByRole('link', { name: 'Quay planning' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('listitem').filter({ hasText: 'Reads tides' }).waitFor();
    await press(page, 'Subscribe');
    await page.getByRole('dialog').getByRole('button', { name: 'Subscribe', exact: true }).press('Enter');
    await page.getByText('Subscription from Another account').waitFor();

    const reason = page.getByRole('status').filter({ hasText: 'Another account publishes the versions' });
    const link = reason.getByRole('link', { name: 'Subscription apps' });
    expect(await link.getAttribute('href')).toBe('/docs/using-switchyard/deploy/subscription-apps');
    await page.getByRole('row', { name: /v1/ }).getByText('the publisher').waitFor();
    await press(page, 'More actions');
    await page.getByRole('button', { name: 'Objective', exact: true }).waitFor();
    for (const name of ['Push app', 'New version', 'Actions of v1', 'Trust HTML assets'])
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
    expect(await page.getByRole('link', { name: 'Compare versions' }).count()).toBe(0);
    for (const name of ['New run', 'New instance'])
      await page.getByRole('main').getByRole('link', { name }).waitFor();
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByText('The app of a subscription gets no secrets').waitFor();
    expect(await page.getByRole('button', { name: 'New collection' }).count()).toBe(0);
    await page.goto(`${at.server.url}/console/apps/${APP}/compare-versions`);
    await page.getByText('Only the publisher of a subscription reads').waitFor();
    await page.getByRole('link', { name: 'Applications', exact: true }).click();
    await page.getByRole('row', { name: /Quay/ }).getByText('Subscription from Another account').waitFor();

    await page.getByRole('link', { name: 'Marketplace' }).click();
    await page.getByRole('button', { name: `Actions of ${APP}` }).waitFor();
    await saveScreenshot(
      page.getByRole('main').locator('header'),
      'using-switchyard/deploy/console-marketplace.png',
      SCREENSHOT_HEIGHT,
    );
    await press(page, `Actions of ${APP}`);
    await press(page, `Unsubscribe ${APP}`);
    await confirm(page, APP);
    await page.getByText('No subscription yet.').waitFor();
    const own = await at.server.client.call('listSubscriptions');
    expect(own.body).toEqual([]);
    await page.getByRole('link', { name: 'Applications', exact: true }).click();
    await page.getByRole('row', { name: /Quay/ }).getByText('Subscription ended').waitFor();
    await page.getByRole('row', { name: /Quay/ }).getByRole('link', { name: 'Quay planning' }).click();
    await page.getByText('The subscription is not active').waitFor();
    expect(await page.getByRole('main').getByRole('link', { name: 'New run' }).count()).toBe(0);
  });

  test('an administrator publishes an application with a version, releases, edits and retracts it', async () => {
    const page = await at.open('/marketplace');
    await press(page, 'Publish an application');
    await page.getByLabel('Application', { exact: true }).selectOption('own');
    expect(await page.getByLabel('Title').inputValue()).toBe('App own');
    await page.getByLabel('Id', { exact: true }).fill('berths');
    await page.getByLabel('Categories').fill('ports, ships');
    await page.keyboard.press('Enter');
    await page.getByText('Publish a version, then release the app.').waitFor();
    expect(await page.getByRole('button', { name: 'Release', exact: true }).count()).toBe(0);

    await press(page, 'Publish version');
    await page.getByLabel('Change log').fill('First\n\nSecond');
    await page.getByLabel('Id', { exact: true }).fill('v1');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /v1 First Second first/ }).waitFor();
    await press(page, 'Edit change log of v1');
    await page.getByRole('textbox', { name: 'Change log' }).fill('Third');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('row', { name: /v1 Third first/ }).waitFor();
    await press(page, 'Release');
    await page.getByRole('button', { name: 'Release app' }).press('Enter');
    await page.getByRole('button', { name: 'Retract' }).waitFor();
    const { body: account } = await at.server.client.call('getAccount');
    const params = { partner_id: account.id, marketplace_app_id: 'berths' };
    const fetchApp = async () => (await partner.client.call('getMarketplaceApp', { params })).body;
    expect(await fetchApp()).toMatchObject({ state: 'released', categories: ['ports', 'ships'] });

    await press(page, 'Edit');
    await page.getByLabel('Title').fill('Berth planning');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Berth planning' }).waitFor();
    await press(page, 'Retract');
    await confirm(page, 'berths');
    await page.getByText('until you release it again.').waitFor();
    const { body } = await at.server.client.call('getMarketplaceApp', { params });
    expect(body).toMatchObject({ state: 'retracted', title: 'Berth planning' });
  });

  test('is accessible on a phone in both themes, and offers a viewer no action', async () => {
    const phone = await at.openOnPhone('/marketplace');
    await phone.getByRole('button', { name: 'Publish an application' }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
    await phone.getByRole('link', { name: 'Quay planning' }).click();
    await phone.getByRole('button', { name: 'Subscribe' }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
    const reader = await at.open(`/marketplace/${partner.accountId}/${APP}`, { role: 'viewer' });
    await reader.getByRole('listitem').filter({ hasText: 'Plans berths' }).waitFor();
    await reader.getByRole('link', { name: 'Marketplace' }).first().click();
    await reader.getByRole('heading', { name: 'Subscriptions of this account' }).waitFor();
    for (const name of ['Subscribe', 'Publish an application', /^Actions of/])
      expect(await reader.getByRole('button', { name }).count()).toBe(0);
  });
});
