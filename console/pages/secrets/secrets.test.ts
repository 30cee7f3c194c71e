/** Secrets in the console: values are written and never shown. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

const VALUE = 'not-a-real-licence';
const COLLECTION = '/v1/applications/app/secrets/solver';

describe.skipIf(!hasBrowser)('secrets', () => {
  const at = setUpConsole(async (server) => {
    await server.client.call('createApplication', { body: { id: 'app', name: 'App' } });
    await server.client.call('createSecretsCollection', {
      params: { application_id: 'app' },
      body: { id: 'maps', secrets: [{ type: 'env', location: 'MAPS_KEY', value: VALUE }] },
    });
  });
  const fetchSecrets = async () => {
    const { body } = await at.server.request('GET', COLLECTION);
    return (body as { secrets: unknown }).secrets;
  };

  test('a collection is created, gets and loses secrets, and no value reaches the page', async () => {
    const page = await at.open('/apps/app/secrets');
    await page.getByRole('button', { name: 'New collection' }).click();
    await page.getByLabel('Id', { exact: true }).fill('solver');
    await page.getByLabel('Name of the variable').fill('LICENCE');
    await page.getByLabel('Value', { exact: true }).fill(VALUE);
    await page.getByRole('button', { name: 'Create collection' }).click();
    await page.getByRole('heading', { name: 'solver' }).waitFor();
    expect(new URL(page.url()).search).toBe('?collection=solver');

    await page.getByRole('button', { name: 'Add secret' }).click();
    await page.getByLabel('Form', { exact: true }).selectOption('file');
    await page.getByLabel('Path').fill('../outside');
    await page.getByLabel('Value', { exact: true }).fill('line one\nline two\n');
    await page.getByRole('dialog').getByRole('button', { name: 'Add secret' }).click();
    await page.getByRole('alert').filter({ hasText: '../outside' }).waitFor();
    await page.getByLabel('Path').fill('licence/solver.lic');
    await page.getByRole('dialog').getByRole('button', { name: 'Add secret' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Show names of the secrets' }).click();
    const act = async (name: string) => {
      await page.getByRole('button', { name: 'Actions of LICENCE', exact: true }).click();
      await page.getByRole('button', { name, exact: true }).click();
    };
    await act('Replace the value of LICENCE');
    await page.getByLabel('Value', { exact: true }).fill('another licence');
    await page.getByRole('button', { name: 'Replace value' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await fetchSecrets()).toEqual([
      { type: 'env', location: 'LICENCE', value: 'another licence' },
      { type: 'file', location: 'licence/solver.lic', value: 'line one\nline two\n' },
    ]);
    for (const value of [VALUE, 'another licence', 'line one'])
      expect(await page.content()).not.toContain(value);

    await act('Delete LICENCE');
    await page.getByLabel('Type LICENCE to confirm').fill('LICENCE');
    await page.getByRole('button', { name: 'Delete secret' }).click();
    await page.getByRole('cell', { name: 'LICENCE', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete collection' }).click();
    await page.getByLabel('Type solver to confirm').fill('solver');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete collection' }).click();
    await page.getByRole('heading', { name: 'maps' }).waitFor();
    expect((await at.server.request('GET', COLLECTION)).status).toBe(404);
  });

  test('an operator sees the collections, and neither names nor buttons that change them', async () => {
    const page = await at.open('/apps/app/secrets?collection=maps', { role: 'operator' });
    await page.getByRole('heading', { name: 'maps' }).waitFor();
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual(['']);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/apps/app/secrets?collection=maps');
    await page.getByRole('button', { name: 'Show names of the secrets' }).click();
    await page.getByRole('cell', { name: 'MAPS_KEY', exact: true }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add secret' }).click();
    await page.getByLabel('Value', { exact: true }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
