/** Versions and instances of an application, created and changed in the browser. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

const APP = { main: '#!/bin/sh\ncat\n' };
const options = {
  strict: true,
  validation: { enforce: 'all' as const },
  items: [
    { name: 'duration', option_type: 'int', default: 5, additional_attributes: { min: 1, max: 60 } },
    { name: 'mode', option_type: 'string', additional_attributes: { values: ['fast', 'good'] } },
  ],
};
const params = { application_id: 'routing' };

describe.skipIf(!hasBrowser)('versions and instances', () => {
  const at = setUpConsole(async (server) => {
    await pushApp(server, 'routing', APP, { executable_type: 'binary', entrypoint: 'main', options });
    await server.client.call('createSecretsCollection', {
      params,
      body: { id: 'keys', name: 'Keys', secrets: [{ type: 'env', location: 'KEY', value: 'x' }] },
    });
  });
  const getInstance = async () => {
    const path = { ...params, instance_id: 'production' };
    return (await at.server.client.call('getInstance', { params: path })).body;
  };

  test('a version is created, and an instance of it with the options of the manifest', async () => {
    const page = await at.open('/apps/routing');
    await page.getByRole('button', { name: 'New version' }).click();
    const dialog = page.getByRole('dialog', { name: 'New version' });
    await dialog.getByLabel('Id').fill('v1');
    await dialog.getByRole('button', { name: 'Create version' }).click();
    await page.getByRole('link', { name: 'New instance' }).click();
    await page.getByRole('heading', { name: 'New instance' }).waitFor();
    await page.getByLabel('Id').fill('production');
    await page.getByLabel('Name').fill('Production');
    await page.getByLabel('duration', { exact: true }).fill('90');
    await page.getByText('options.duration is "90"; it must be at most 60.').waitFor();
    await page.getByLabel('duration', { exact: true }).fill('30');
    await page.getByLabel('mode').selectOption('good');
    await page.getByLabel('Queue priority').selectOption('2');
    await page.getByLabel('Secrets collection').selectOption('keys');
    await page.getByLabel('Runs may use the network').check();
    await page.getByLabel('Required labels').fill('region=eu, gpu');
    await page.getByLabel('Licence tokens').fill('gurobi = two');
    await page.getByRole('button', { name: 'Create instance' }).click();
    await page.getByText('has the licence "gurobi = two"').waitFor();
    await page.getByLabel('Licence tokens').fill('gurobi = 2, xpress');
    await page.getByRole('button', { name: 'Create instance' }).click();
    await page.getByRole('heading', { name: 'Production' }).waitFor();
    expect(await getInstance()).toMatchObject({
      name: 'Production',
      version_id: 'v1',
      configuration: {
        execution_class: '6c9500mb870s',
        options: { duration: '30', mode: 'good' },
        secrets_collection_id: 'keys',
        queuing: { priority: 2, disabled: false },
        network: true,
        requirements: { labels: ['gpu', 'region=eu'], licenses: { gurobi: 2, xpress: 1 } },
      },
    });
    // The form shows no access to the API, and keeps it.
    const { configuration } = await getInstance();
    const api_access = { applications: ['routing'] as never[] };
    await at.server.client.call('updateInstance', {
      params: { application_id: 'routing', instance_id: 'production' } as never,
      body: { configuration: { ...configuration, api_access } },
    });
  });

  test('a new version becomes that of an instance, which keeps its configuration', async () => {
    const page = await at.open('/apps/routing');
    await page.getByRole('button', { name: 'New version' }).click();
    const dialog = page.getByRole('dialog', { name: 'New version' });
    await dialog.getByLabel('Id').fill('v2');
    await dialog.getByLabel('Instance that runs it').selectOption('production');
    await dialog.getByRole('button', { name: 'Create version' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await getInstance()).toMatchObject({
      version_id: 'v2',
      configuration: { options: { duration: '30' } },
    });
    await page.getByRole('button', { name: 'Actions of v1' }).click();
    await page.getByRole('button', { name: 'Rename v1' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('First plan');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'First plan v1' }).waitFor();
    await page.getByRole('button', { name: 'Actions of v1' }).click();
    await page.getByRole('button', { name: 'Delete v1' }).click();
    await page.getByRole('textbox').fill('v1');
    await page.getByRole('button', { name: 'Delete version' }).click();
    await page.getByRole('cell', { name: 'First plan v1' }).waitFor({ state: 'hidden' });
  });

  test('an instance is changed, locked with its member, unlocked and deleted', async () => {
    const page = await at.open('/apps/routing/instances/production');
    await page.getByLabel('duration', { exact: true }).fill('20');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
    expect((await getInstance()).configuration).toMatchObject({
      options: { duration: '20', mode: 'good' },
      requirements: { labels: ['gpu', 'region=eu'], licenses: { gurobi: 2, xpress: 1 } },
      api_access: { applications: ['routing'] },
    });
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Lock', exact: true }).click();
    const { body: account } = await at.server.client.call('getAccount');
    await page
      .getByRole('status')
      .filter({ hasText: `Locked by ${account.key.user_email}` })
      .waitFor();
    expect(await page.getByLabel('duration', { exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Unlock' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await page.goto(`${at.server.url}/console/apps/routing`);
    await page
      .getByRole('row', { name: /production/ })
      .getByText('Locked')
      .first()
      .waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Unlock' }).click();
    // The form follows the lock, so the person does not conflict with themselves.
    await expect.poll(() => page.getByLabel('duration', { exact: true }).isEnabled()).toBe(true);
    await page.getByLabel('duration', { exact: true }).fill('25');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('textbox').last().fill('production');
    await page.getByRole('button', { name: 'Delete instance' }).click();
    await page.getByRole('heading', { name: 'routing' }).waitFor();
    expect(await page.getByRole('link', { name: 'Production' }).count()).toBe(0);
  });

  test('are read only for an operator, and accessible on a phone in both themes', async () => {
    const body = { id: 'stage', version_id: 'v2' };
    await at.server.client.call('createInstance', { params, body });
    const operator = await at.open('/apps/routing/instances/stage', { role: 'operator' });
    await operator.getByRole('heading', { name: 'stage' }).waitFor();
    expect(await operator.getByLabel('duration', { exact: true }).isDisabled()).toBe(true);
    for (const name of ['Save', 'More actions', 'Set as default'])
      expect(await operator.getByRole('button', { name }).count()).toBe(0);
    const phone = await at.openOnPhone('/apps/routing/instances/stage');
    await phone.getByLabel('duration', { exact: true }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
    await phone.goto(`${at.server.url}/console/apps/routing`);
    await phone.getByRole('heading', { name: 'Versions' }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
  });

  test('the application is renamed, and deleted after its id was typed', async () => {
    const page = await at.open('/apps/routing');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Route plan');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Route plan' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const action = page.getByRole('button', { name: 'Delete application' });
    expect(await action.isDisabled()).toBe(true);
    await page.getByLabel('Type routing to confirm').fill('routing');
    await action.click();
    await page.getByRole('heading', { name: 'Applications' }).waitFor();
    await page.getByText('Route plan').waitFor({ state: 'detached' });
    expect((await at.server.request('GET', '/v1/applications/routing')).status).toBe(404);
  });
});
