/** The form of a new run, with an app whose options have rules. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRunAndWait, pushApp, waitForRunEnd } from '@switchyard/server/testing/fixtures/apps.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

/** Prints its arguments as statistics: the objective is the option `bonus` times two. */
const APP = `#!/bin/sh
cat > /dev/null
while [ $# -gt 0 ]; do [ "$1" = -bonus ] && bonus=$2; shift; done
echo "{\\"statistics\\":{\\"schema\\":\\"v1\\",\\"result\\":{\\"value\\":$((bonus * 2))}},\\"solution\\":{\\"bonus\\":$bonus}}"
`;
const options = {
  strict: true,
  validation: { enforce: 'all' as const },
  items: [
    {
      name: 'bonus',
      option_type: 'int',
      default: 5,
      description: 'Reward of each stop.',
      additional_attributes: { min: 1, max: 100 },
      ui: { control_type: 'slider', display_name: 'Bonus' },
    },
    {
      name: 'mode',
      option_type: 'string',
      default: 'fast',
      additional_attributes: { values: ['fast', 'good'] },
    },
    { name: 'verbose', option_type: 'bool' },
  ],
};
const params = { application_id: 'bonus' };
const execute = promisify(execFile);

describe.skipIf(!hasBrowser)('the form of a new run', () => {
  let original = '';
  const at = setUpConsole(async (server) => {
    await pushApp(server, 'bonus', { main: APP }, { executable_type: 'binary', entrypoint: 'main', options });
    await server.client.call('createVersion', { params, body: { id: 'v1' } });
    await server.client.call('createInstance', {
      params,
      body: { id: 'generous', version_id: 'v1', configuration: { options: { bonus: '50' } } },
    });
    const run = await createRunAndWait(server, 'bonus', {
      input: { stops: [1, 2] },
      body: { name: 'Monday', options: { bonus: 7 }, configuration: { queuing: { priority: 3 } } },
    });
    original = run.id;
    const source = { id: 'peak', run_id: original };
    await server.client.call('createInput', { params, body: source });
  });

  test('runs a pasted input on the chosen instance, after the errors of the form are mended', async () => {
    const page = await at.open('/apps/bonus/new-run');
    await page.getByRole('heading', { name: 'New run', level: 1 }).waitFor();
    expect(await page.title()).toBe('New run · bonus · Switchyard');
    const bonus = page.getByRole('textbox', { name: 'Bonus' });
    expect(await bonus.getAttribute('placeholder')).toBe('5');
    await page.getByLabel('Instance', { exact: true }).selectOption('generous');
    await expect.poll(() => bonus.getAttribute('placeholder')).toBe('50');
    expect(new URL(page.url()).searchParams.get('instance')).toBe('generous');

    await bonus.fill('101');
    await page.getByText('options.bonus is "101"; it must be at most 100.').waitFor();
    await expectSameRefusal(at.server, { bonus: '101' });
    await bonus.fill('9');
    await page.getByLabel('mode').selectOption('good');
    await page.getByRole('textbox', { name: 'Input as JSON' }).fill('{"stops": [}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'The input is not valid JSON' }).first().waitFor();
    await replaceInput(page, '{"stops": [1]}');
    await page.getByLabel('Name').fill('Tuesday');
    await page.getByRole('button', { name: 'Run', exact: true }).click();

    const run = await waitForNewRun(page, at.server);
    expect(run).toMatchObject({
      name: 'Tuesday',
      status_v2: 'succeeded',
      application_instance_id: 'generous',
    });
    expect(run.metadata.options.request_options).toEqual({ bonus: '9', mode: 'good' });
    expect(await readInput(at.server, run.id)).toEqual({ stops: [1] });
  });

  test('repeats a run with its values, marks what was changed, and copies the same request', async () => {
    const page = await at.open(`/apps/bonus/new-run?from=${original}`);
    const bonus = page.getByRole('textbox', { name: 'Bonus' });
    await expect.poll(() => bonus.inputValue()).toBe('7');
    expect(await page.getByLabel('Name').inputValue()).toBe('Monday');
    expect(await page.getByLabel('Priority').inputValue()).toBe('3');
    expect(await page.getByLabel('Run id').inputValue()).toBe(original);
    await bonus.fill('8');
    await page.getByText('changed from 7').waitFor();

    const samples = page.getByRole('region', { name: 'This request as code' });
    const expected = { name: 'Monday', request: { bonus: '8' }, priority: 3, input: { stops: [1, 2] } };
    for (const [language, program] of [
      ['curl', 'sh'],
      ['Python', 'python3'],
    ] as const) {
      await samples.getByText(language, { exact: true }).click();
      const code = await samples.locator('details[open] pre').last().textContent();
      const { stdout } = await execute(program, ['-c', code ?? ''], {
        env: { ...process.env, SWITCHYARD_TOKEN: at.server.token },
        cwd: at.server.dataFolder,
      });
      const id = /run-[a-z0-9]+/.exec(stdout)?.[0] ?? stdout;
      expect(await describeRun(at.server, id)).toEqual(expected);
    }
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const run = await waitForNewRun(page, at.server);
    expect(await describeRun(at.server, run.id)).toEqual(expected);
    expect(run.metadata.tracking?.cloned_run_id).toBe(original);
  });

  test('takes a file or a managed input', async () => {
    const page = await at.open('/apps/bonus/new-run');
    await page.getByLabel('Upload a file').check();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Choose a file.' }).waitFor();
    const content = {
      name: 'input.json',
      mimeType: 'application/json',
      buffer: Buffer.from('{"stops": [3]}'),
    };
    await page.getByLabel('File', { exact: true }).setInputFiles(content);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    expect(await readInput(at.server, (await waitForNewRun(page, at.server)).id)).toEqual({ stops: [3] });

    await page.goBack();
    await page.getByLabel('Managed input').check();
    await page.getByLabel('Input id').fill('nowhere');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: '"nowhere"' }).waitFor();
    await page.getByLabel('Input id').fill('peak');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const run = await waitForNewRun(page, at.server);
    expect(run.metadata.tracking?.input_id).toBe('peak');
  });

  test('a viewer reads the form and has no button', async () => {
    const page = await at.open('/apps/bonus/new-run', { role: 'viewer' });
    await page.getByText('Your role, viewer, cannot create runs.').waitFor();
    expect(await page.getByRole('button', { name: 'Run', exact: true }).count()).toBe(0);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone(`/apps/bonus/new-run?from=${original}`);
    await page.getByLabel('Paste').check();
    await page.getByRole('textbox', { name: 'Input as JSON' }).fill('{"stops": [1, true, null, "a"]}');
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});

/** Expects that the server refuses the options by the sentence of the form. */
async function expectSameRefusal(server: TestServer, values: Record<string, string>): Promise<void> {
  const { status, body } = await server.request('POST', '/v1/applications/bonus/runs', {
    body: { input: {}, options: values },
  });
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { error: 'options.bonus is "101"; it must be at most 100.' },
  });
}

/** Waits until the page shows the new run, and returns the run after its end. */
async function waitForNewRun(page: Page, server: TestServer) {
  await page.waitForURL(/\/runs\/run-/);
  return waitForRunEnd(server, 'bonus', new URL(page.url()).pathname.split('/').at(-1) ?? '');
}

/** Selects the whole input and types over it, as a person does. `fill` would replace it by a command without an event. */
async function replaceInput(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Input as JSON' }).click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
}

async function readInput(server: TestServer, run: string): Promise<unknown> {
  const { body } = await server.client.call('getRunInput', { params: { ...params, run_id: run } });
  return body;
}

async function describeRun(server: TestServer, id: string) {
  const run = await waitForRunEnd(server, 'bonus', id);
  return {
    name: run.name,
    request: run.metadata.options.request_options,
    priority: run.queuing_priority,
    input: await readInput(server, id),
  };
}
