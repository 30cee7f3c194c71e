/** Two people change one resource: each dialog says so, and loads the present state without losing what was typed. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { uploadContent } from '@switchyard/server/testing/fixtures/resources.ts';
import { ENSEMBLE } from '@switchyard/server/testing/http/experiments.ts';
import { describe, expect, test } from 'vitest';
import { setUpConsole } from './testing/console-visit.ts';

const APPLICATION = '/v1/applications/routing';

/** A dialog that changes a resource, and what both people change. */
interface Conflict {
  /** The page, and the button on it that opens the form; a page that is a form has none. */
  page: string;
  button?: string | RegExp;
  /** The menu with the button, if it has another name than that of the page. */
  menu?: string;
  /** Label of a field, and what the person types into it. */
  types: [label: string, text: string];
  save: string;
  /** The path of the resource, and what somebody else changes while the dialog is open. */
  at: string;
  theirs: object;
  method?: 'PUT' | 'PATCH';
  /** The message of the dialog about that. */
  message: string;
  /** The resource in the end; `readAt` is its path, if not `at`. */
  expected: object;
  readAt?: string;
}

const rename = (page: string, at: string, button: string | RegExp = /^Rename$/): Conflict => ({
  ...{ page, button, at, save: 'Save' },
  types: ['Name', 'My name'],
  theirs: { description: 'Theirs' },
  message: 'Description: empty → Theirs',
  expected: { name: 'My name', description: 'Theirs' },
});

const CONFLICTS: Record<string, Conflict> = {
  'the name of an application': rename('/apps/routing', APPLICATION),
  'the name of a version': {
    ...rename('/apps/routing', `${APPLICATION}/versions/v1`, 'Rename v1'),
    menu: 'Actions of v1',
  },
  'the name of an ensemble': {
    ...rename('/apps/routing/ensembles/best', `${APPLICATION}/ensembles/best`),
    method: 'PATCH',
  },
  'the name of an input': rename('/apps/routing/inputs/monday', `${APPLICATION}/inputs/monday`),
  'the name of an input set': rename(
    '/apps/routing/input-sets/days',
    `${APPLICATION}/experiments/inputsets/days`,
  ),
  'the name of a secrets collection': {
    ...rename('/apps/routing/secrets', `${APPLICATION}/secrets/keys`),
    theirs: { description: 'Theirs', secrets: [] },
  },
  'a new secret': {
    page: '/apps/routing/secrets',
    button: 'Add secret',
    types: ['Name of the variable', 'MINE'],
    save: 'Add secret',
    at: `${APPLICATION}/secrets/keys`,
    theirs: { secrets: [{ type: 'env', location: 'THEIRS', value: 'x' }] },
    message: 'Nothing shown here has changed',
    expected: { secrets: [{ location: 'THEIRS' }, { location: 'MINE', value: 'typed' }] },
  },
  'an instance': {
    page: '/apps/routing/instances/production',
    types: ['Description', 'Mine'],
    save: 'Save',
    at: `${APPLICATION}/instances/production`,
    theirs: { name: 'Theirs' },
    message: 'Name: Production → Theirs',
    expected: { name: 'Theirs', description: 'Mine' },
  },
  'a webhook': {
    page: '/webhooks/hook',
    button: 'Edit',
    types: ['Description', 'Mine'],
    save: 'Save',
    at: '/v1/webhooks/hook',
    theirs: { endpoint_url: 'https://example.com/theirs', description: 'Theirs' },
    message: 'Description: empty → Theirs. Your value is kept',
    expected: { endpoint_url: 'https://example.com/theirs', description: 'Mine' },
  },
  'the quotas of the account': {
    page: '/account/quotas',
    button: 'Change quotas',
    types: ['Runs at once', '8'],
    save: 'Save quotas',
    at: '/v1/account/quotas',
    theirs: { concurrent_runs: null, core_hours_per_month: 500 },
    message: 'Core hours a month: empty → 500',
    expected: { concurrent_runs: 8, core_hours_per_month: 500 },
  },
  'the quotas of an application': {
    page: '/account/quotas',
    button: 'Change the quotas of routing',
    types: ['Runs at once', '8'],
    save: 'Save quotas',
    at: `${APPLICATION}/quotas`,
    theirs: { concurrent_runs: 2, core_hours_per_month: 50 },
    message: 'Core hours a month: empty → 50',
    expected: { concurrent_runs: 8, core_hours_per_month: 50 },
  },
  licences: {
    page: '/account/quotas',
    button: 'Change licences',
    types: ['Licences and their tokens', 'gurobi = 4'],
    save: 'Save licences',
    at: '/v1/account/licenses',
    theirs: { licenses: [{ name: 'xpress', total: 1 }] },
    message: 'Licences: empty → xpress = 1. Your value is kept, and saving replaces theirs.',
    expected: { licenses: [{ name: 'gurobi', total: 4 }] },
  },
  'a retention policy': {
    page: '/account/retention',
    button: 'Change the policy of routing',
    types: ['Days that a run stays after its end', '30'],
    save: 'Save policy',
    at: `${APPLICATION}/retention`,
    theirs: { keep_days: null, keep_experiment_runs: false },
    message: 'Keep runs of experiments: on → off',
    expected: { keep_days: 30, keep_experiment_runs: false },
  },
  'the cost rate': {
    page: '/account/usage',
    button: /cost rate/i,
    types: ['Price of a core hour', '0.5'],
    save: 'Save',
    at: '/v1/account/cost-rate',
    theirs: { currency: 'USD', per_core_hour: 2 },
    message: 'Currency: EUR → USD',
    expected: { cost_rate: { currency: 'USD', per_core_hour: 0.5 } },
    readAt: '/v1/account/usage',
  },
};

describe.skipIf(!hasBrowser)('W14: somebody else changes meanwhile', () => {
  const at = setUpConsole(async (server) => {
    await pushApp(
      server,
      'routing',
      { main: '#!/bin/sh\ncat\n' },
      { executable_type: 'binary', entrypoint: 'main' },
    );
    const send = async (method: string, path: string, body: object) => {
      const response = await server.request(method, path, { body });
      expect(response.status, response.text).toBeLessThan(300);
    };
    const upload_id = await uploadContent(server, 'routing', '{}');
    await send('POST', `${APPLICATION}/inputs`, { id: 'monday', name: 'Monday', upload_id });
    await send('POST', `${APPLICATION}/versions`, { id: 'v1', name: 'First' });
    const instance = { id: 'production', name: 'Production', version_id: 'v1' };
    await send('POST', `${APPLICATION}/instances`, instance);
    await send('POST', `${APPLICATION}/ensembles`, { id: 'best', ...ENSEMBLE });
    await send('POST', `${APPLICATION}/secrets`, { id: 'keys', name: 'Keys', secrets: [] });
    const set = { id: 'days', name: 'Days', inputs: [{ id: 'monday' }] };
    await send('POST', `${APPLICATION}/experiments/inputsets`, set);
    const hook = { id: 'hook', endpoint_url: 'https://example.com/', event_types: ['run.status'] };
    await send('POST', '/v1/webhooks', { ...hook, description: '' });
    await send('PUT', `${APPLICATION}/quotas`, { concurrent_runs: 2, core_hours_per_month: null });
  });

  test.each(Object.entries(CONFLICTS))('%s', async (_, conflict) => {
    const { server } = at;
    const page = await at.open(conflict.page);
    const form = conflict.button === undefined ? page.locator('form') : page.getByRole('dialog');
    if (conflict.button !== undefined) {
      const button = page.getByRole('button', { name: conflict.button }).first();
      const menu = page.getByRole('button', { name: conflict.menu ?? 'More actions' });
      await button.or(menu).first().waitFor();
      if (!(await button.isVisible())) await menu.click();
      await button.click();
    }
    const field = form.getByLabel(conflict.types[0], { exact: true });
    await field.fill(conflict.types[1]);
    const value = form.getByLabel('Value');
    if (conflict.save === 'Add secret') await value.fill('typed');
    const method = conflict.method ?? 'PUT';
    const changed = await server.request(method, conflict.at, { body: conflict.theirs });
    expect(changed.status, changed.text).toBeLessThan(300);

    const save = form.getByRole('button', { name: conflict.save });
    await save.click();
    const alert = form.getByRole('alert');
    await alert.filter({ hasText: /changed at .*Z by \S+@\S+\. Nothing was changed/ }).waitFor();
    await form.getByRole('button', { name: 'Load the present state' }).click();
    await form.getByRole('status').filter({ hasText: conflict.message }).waitFor();
    expect(await alert.count()).toBe(0);
    expect(await field.inputValue()).toBe(conflict.types[1]);
    await expect.poll(() => save.isEnabled()).toBe(true);
    await save.click();
    if (conflict.button === undefined) await form.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
    else await form.waitFor({ state: 'hidden' });
    const { body } = await server.request('GET', conflict.readAt ?? conflict.at);
    expect(body).toMatchObject(conflict.expected);
  });

  test('the default instance', async () => {
    for (const path of ['/apps/routing', '/apps/routing/instances/production']) {
      const restore = { default_instance: 'latest', description: path };
      await at.server.request('PUT', APPLICATION, { body: restore });
      const page = await at.open(path);
      const button = page.getByRole('button', { name: /^Set as default/ }).first();
      const menu = page.getByRole('button', { name: /^Actions of (Production|Theirs)$/ });
      await button.or(menu).first().waitFor();
      if (await menu.isVisible()) await menu.click();
      // The page reads the application again when it hears of a change: it does not hear of this one in time.
      await page.route('**/v1/applications/routing', (route) =>
        route.request().method() === 'GET' ? new Promise(() => {}) : route.continue(),
      );
      await at.server.request('PUT', APPLICATION, { body: { description: `Theirs ${path}` } });
      await button.click();
      await page
        .getByRole('alert')
        .filter({ hasText: /the application "routing" was changed at/ })
        .waitFor();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.getByRole('button', { name: 'Load the present state' }).click();
      await page.getByText('The present state is loaded').waitFor();
      if (await menu.isVisible()) await menu.click();
      await button.click();
      await expect
        .poll(async () => (await at.server.request('GET', APPLICATION)).body)
        .toMatchObject({ default_instance: 'production', description: `Theirs ${path}` });
    }
  });
});
