/** Managed inputs and input sets in the console. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { PART_BYTES } from '@switchyard/contract/transfer/partial-upload.ts';
import { createRunAndWait, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { startBalancer } from '@switchyard/server/testing/servers/balancer.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { ECHO_APP, ECHO_APP_TYPE } from '../../testing/hostile-output.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

const HOSTILE_NAME = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasBrowser)('inputs and input sets', () => {
  let run = '';
  const at = setUpConsole(async (server) => {
    await pushApp(server, 'echo', ECHO_APP, ECHO_APP_TYPE);
    run = (await createRunAndWait(server, 'echo', { input: { stops: [{ name: 'depot' }] } })).id;
    for (const [id, name] of [
      ['monday', 'Monday'],
      ['tuesday', HOSTILE_NAME],
    ])
      await server.client.call('createInput', {
        params: { application_id: 'echo' },
        body: { id, name, run_id: run },
      });
    await server.client.call('createInputSet', {
      params: { application_id: 'echo' },
      body: { id: 'days', name: HOSTILE_NAME, inputs: [{ id: 'monday' }, { id: 'tuesday' }] },
    });
  });
  const confirm = async (page: Page, word: string, action: string) => {
    await page.getByLabel(`Type ${word} to confirm`).fill(word);
    await page.getByRole('button', { name: action }).click();
  };

  test('a file becomes an input that is shown, renamed and deleted', async () => {
    const page = await at.open('/apps/echo/inputs');
    await page.getByRole('button', { name: 'New input' }).click();
    const content = Buffer.from('{"stops": [{"name": "harbour", "demand": 7}]}');
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'Sunday.json', mimeType: 'application/json', buffer: content });
    expect(await page.getByLabel('Name').inputValue()).toBe('Sunday.json');
    expect(await page.getByLabel('Format').inputValue()).toBe('json');
    await page.getByLabel('Id', { exact: true }).fill('sunday');
    const sent = page.waitForRequest((request) => request.url().includes('/v1/uploads/'));
    await page.getByRole('button', { name: 'Create input' }).click();
    expect((await sent).method()).toBe('PUT');

    await page.getByRole('heading', { name: 'Sunday.json' }).waitFor();
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await page.getByRole('cell', { name: 'harbour' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/apps/echo/inputs/sunday');
    expect(new URL(page.url()).search).toBe('?mode=table');

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Sunday at sea');
    await page.getByLabel('Description').fill('Few stops.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Sunday at sea' }).waitFor();
    await page.getByText('Few stops.').waitFor();

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'sunday', 'Delete input');
    await page.getByRole('heading', { name: 'Inputs' }).waitFor();
    expect(await page.getByText('Sunday at sea').count()).toBe(0);
  });

  test('a large file continues after a lost connection, and after its upload was canceled', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-upload-'));
    const file = join(folder, 'large.txt');
    const large = createHash('shake256', { outputLength: 10_000_000 }).digest('hex');
    await writeFile(file, large);
    // The network is away after 15 and after 30 MB, until the test restores it.
    const proxy = await startBalancer({ cutAfterBytes: large.length * 0.75, onCut: () => proxy.use([]) });
    const restore = () => proxy.use([at.server.url]);
    restore();
    const page = await at.open('/apps/echo/inputs', { address: proxy.url });
    const upload = page.getByRole('region', { name: 'Upload' });
    const create = page.getByRole('button', { name: 'Create input' });
    const send = async (id: string) => {
      await page.getByRole('button', { name: 'New input' }).click();
      await page.getByLabel('File').setInputFiles(file);
      await page.getByLabel('Id', { exact: true }).fill(id);
      await create.click();
      await upload.getByText('Connection lost, trying again').waitFor();
    };
    const expectSame = async (input_id: string) => {
      await page.waitForURL(`**/inputs/${input_id}`);
      const params = { application_id: 'echo', input_id };
      const { body } = await at.server.client.call('getInput', { params });
      const content = await (await fetch(body.download_url)).text();
      expect(content === large).toBe(true);
    };
    try {
      await send('interrupted');
      expect(await findAccessibilityProblems(page)).toEqual([]);
      await saveScreenshot(page.getByRole('dialog'), 'using-switchyard/run/console-upload.png');
      await page.keyboard.press('Escape');
      const sent = await upload.getByRole('progressbar').getAttribute('value');
      expect(Number(sent)).toBeGreaterThanOrEqual(PART_BYTES);
      restore();
      await page.evaluate(() => window.dispatchEvent(new Event('online')));
      await expectSame('interrupted');
      expect(proxy.receivedBytes - large.length).toBeLessThan(PART_BYTES);

      const before = proxy.receivedBytes;
      await page.goBack();
      await send('canceled');
      await upload.getByRole('button', { name: 'Cancel upload' }).click();
      await page.getByRole('status').filter({ hasText: 'Upload canceled' }).waitFor();
      expect(await upload.count()).toBe(0);
      restore();
      await create.click();
      await expectSame('canceled');
      expect(proxy.receivedBytes - before - large.length).toBeLessThan(PART_BYTES);
    } finally {
      await proxy.close();
      await rm(folder, { recursive: true });
    }
  });

  test('the input of a run becomes an input, and the refusal of an id stays visible', async () => {
    const page = await at.open('/apps/echo/inputs');
    await page.getByRole('button', { name: 'New input' }).click();
    await page.getByLabel('Source').selectOption('run');
    await page.getByLabel('Run id').fill(run);
    await page.getByLabel('Id', { exact: true }).fill('monday');
    await page.getByRole('button', { name: 'Create input' }).click();
    await page.getByRole('alert').filter({ hasText: 'monday' }).waitFor();
    await page.getByLabel('Id', { exact: true }).fill('from-run');
    await page.getByRole('button', { name: 'Create input' }).click();
    await page.getByRole('heading', { name: 'from-run' }).waitFor();
    await page.getByRole('link', { name: run }).waitFor();
  });

  test('an input set is made of managed inputs, and loses one', async () => {
    const page = await at.open('/apps/echo/input-sets');
    await page.getByRole('button', { name: 'New input set' }).click();
    await page.getByLabel('Name').fill('Both days');
    await page.getByLabel('Id', { exact: true }).fill('both');
    await page.getByLabel('Monday').check();
    await page.getByLabel(HOSTILE_NAME).check();
    await page.getByRole('button', { name: 'Create input set' }).click();

    await page.getByText('2 from managed inputs').waitFor();
    await page.getByRole('link', { name: HOSTILE_NAME }).click();
    await page.getByRole('heading', { name: HOSTILE_NAME }).waitFor();
    await page.getByRole('treeitem').filter({ hasText: 'depot' }).first().waitFor();
    await page.reload();
    await page.getByRole('heading', { name: HOSTILE_NAME }).waitFor();

    await page.getByRole('button', { name: 'Edit inputs' }).click();
    await page.getByRole('dialog').getByLabel('Monday').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('1 from managed inputs').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'both', 'Delete input set');
    await page.getByRole('heading', { name: 'Input sets' }).waitFor();
  });

  test('a set of runs has the inputs of a time window', async () => {
    const page = await at.open('/apps/echo/input-sets');
    await page.getByRole('button', { name: 'New input set' }).click();
    await page.getByLabel('Name').fill('Latest');
    await page.getByLabel('Source').selectOption('instance');
    await page.getByLabel('Instance').selectOption('latest');
    await page.getByLabel('Until').fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Create input set' }).click();
    await page.getByRole('alert').filter({ hasText: 'end_time' }).waitFor();
    await page.getByLabel('Until').fill('');
    await page.getByRole('button', { name: 'Create input set' }).click();
    await page.getByText('1 from runs of latest').waitFor();
  });

  test('a viewer sees no button that changes anything', async () => {
    const page = await at.open('/apps/echo/input-sets/days', { role: 'viewer' });
    await page.getByRole('heading', { name: HOSTILE_NAME }).first().waitFor();
    for (const name of ['Rename', 'Edit inputs', 'Delete'])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  });

  test('every page is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/apps/echo/inputs');
    for (const [path, text] of [
      ['inputs', 'Monday'],
      ['inputs/monday', 'depot'],
      ['input-sets', HOSTILE_NAME],
      ['input-sets/days', 'depot'],
    ] as const) {
      await page.goto(`${at.server.url}/console/apps/echo/${path}`);
      await page.getByRole('main').getByText(text).first().waitFor();
      expect(await findAccessibilityProblems(page)).toEqual([]);
    }
  });
});
