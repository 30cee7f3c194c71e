/** The workers in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { measureLayoutShift } from '@switchyard/browser-testing/layout-shift.ts';
import { createRun, pushApp, waitForLogLine } from '@switchyard/server/testing/fixtures/apps.ts';
import { startWorkerProcess } from '@switchyard/server/testing/servers/worker-process.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

const APP = { 'main.sh': '#!/bin/sh\necho started >&2\nsleep 600\n' };
const TOKEN = 'Solver nodes';
/** A worker is on the page this long after it registered. */
const APPEARS_MS = 2_000;
/** Height of the table of two workers with the tokens below it. */
const WORKERS_AND_TOKENS_PX = 530;

describe.skipIf(!hasBrowser)('the workers', () => {
  let run = '';
  const at = setUpConsole(
    async (server) => {
      await pushApp(server, 'planner', APP, {
        executable_type: 'binary',
        runtime: 'binary',
        entrypoint: 'main.sh',
      });
      run = await createRun(server, 'planner', { input: {} });
      await waitForLogLine(server, 'planner', run, 'started');
      const params = { application_id: 'planner' };
      await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version one' } });
      // No worker of this machine has these labels; a worker of the provisioner has one of them.
      for (const label of ['cluster', 'fpga']) {
        await server.client.call('createInstance', {
          params,
          body: {
            ...{ id: label, name: `With ${label}`, version_id: 'v1' },
            configuration: { requirements: { labels: [label] } },
          },
        });
        await createRun(server, 'planner', { instance: label, input: {} });
      }
      // One has the job that waits in the cluster, and the start of another one fails.
      await createRun(server, 'planner', { instance: 'cluster', input: {} });
    },
    {
      env: {
        SWITCHYARD_CAPACITY: '2,16c60gb12h=1',
        SWITCHYARD_LABELS: 'solver=gurobi, gpu',
        SWITCHYARD_PROVISIONER: 'command',
        SWITCHYARD_PROVISIONER_MAX: '4',
        SWITCHYARD_PROVISIONER_LABELS: 'cluster',
        SWITCHYARD_COMMAND_START: 'echo no credentials >&2; exit 1',
        SWITCHYARD_COMMAND_LIST: 'echo "$WORKER_NAME_PREFIX"one 1 pending no free machine',
        SWITCHYARD_COMMAND_STOP: 'true',
      },
    },
  );

  test('show slots and runs, and an operator drains one by the keyboard', async () => {
    const page = await at.open('/workers', { role: 'operator' });
    await page.getByRole('heading', { name: 'Workers' }).waitFor();
    expect(await page.title()).toBe('Workers · Switchyard');
    await page.getByText('1 of 3 slots are busy').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'Active' });
    expect(await row.getByRole('link').allTextContents()).toEqual([run]);
    expect(await row.getByRole('meter').count()).toBe(2);
    expect(await row.getByRole('list', { name: 'Labels' }).getByRole('listitem').allTextContents()).toEqual([
      'gpu',
      'solver=gurobi',
    ]);
    expect(await page.evaluate(measureLayoutShift)).toBeLessThan(0.01);
    await saveScreenshot(
      page.getByRole('table', { name: 'Workers' }),
      'using-switchyard/reference/api/console-workers.png',
    );
    await page.getByRole('button', { name: /^Drain / }).press('Enter');
    await page.getByRole('cell', { name: /^Draining/ }).waitFor();
    await page.getByText('No worker starts runs now').waitFor();
    // The run continues.
    expect(await page.getByRole('link', { name: run }).count()).toBe(1);
    await page.reload();
    await page.getByRole('button', { name: /^End the drain of/ }).press('Enter');
    await page.getByRole('cell', { name: 'Active' }).waitFor();
  });

  test('stand below the state of the provisioner', async () => {
    const page = await at.open('/workers', { role: 'admin' });
    const status = page.getByRole('region', { name: 'Provisioner' });
    await status.getByText('up to 4 workers by the commands of the operator').waitFor();
    await status.getByRole('alert').getByText('no credentials').waitFor();
    await status.getByText('1 queued run needs more').waitFor();
    await status.getByText(/^1 job waits on the cluster, requested .*: no free machine$/).waitFor();
  });

  test('come and go with a worker token', async () => {
    const page = await at.open('/workers', { role: 'admin' });
    await page.getByRole('button', { name: 'New worker token' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(TOKEN);
    await dialog.getByLabel('Executes runs of').selectOption('chosen applications');
    // An administrator of one account cannot serve the others.
    expect(await dialog.getByLabel('Executes runs of').getByRole('option').count()).toBe(2);
    await dialog.getByRole('button', { name: 'Choose an application' }).waitFor();
    await dialog.getByRole('checkbox', { name: 'planner' }).check();
    await dialog.getByLabel('Labels').fill('gpu, region=eu');
    await dialog.getByRole('button', { name: 'Create worker token' }).click();
    await dialog.getByRole('button', { name: 'Copy command' }).waitFor();
    const [token = '', command] = await dialog.locator('code').allTextContents();
    expect(command).toBe(`SWITCHYARD_WORKER_TOKEN=${token} npm run worker -- --server ${at.server.url}`);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row', { name: TOKEN });
    expect((await row.getByRole('cell').allTextContents()).slice(1, 5)).toEqual([
      'planner',
      'gpuregion=eu',
      '0',
      'never',
    ]);
    expect(await page.content()).not.toContain(token);
    const worker = startWorkerProcess(at.server.url, token, ['--slots', '3', '--label', 'region=eu']);
    try {
      await worker.waitForLine('Worker registered');
      await page.getByText('1 of 6 slots are busy').waitFor({ timeout: APPEARS_MS });
      await page.getByText(/^remote/).waitFor();
      await row.getByRole('cell', { name: '1', exact: true }).waitFor();
      await saveScreenshot(
        page.getByRole('table', { name: 'Workers' }),
        'using-switchyard/setup/console-worker-tokens.png',
        WORKERS_AND_TOKENS_PX,
      );
      await page.getByRole('button', { name: `Actions of ${TOKEN}` }).click();
      await page.getByRole('button', { name: `Revoke ${TOKEN}` }).click();
      await dialog.getByText('The worker that uses it ends at once.').waitFor();
      await dialog.getByLabel(`Type ${TOKEN} to confirm`).fill(TOKEN);
      await dialog.getByRole('button', { name: 'Revoke worker token' }).click();
      await row.waitFor({ state: 'detached' });
      await page.getByText(/^remote/).waitFor({ state: 'detached' });
      await page.getByText('1 of 3 slots are busy').waitFor();
      expect(await worker.exited).toBe(1);
    } finally {
      await worker.kill();
    }
  });

  test('have no button for a viewer', async () => {
    const page = await at.open('/workers', { role: 'viewer' });
    await page.getByRole('cell', { name: 'Active' }).waitFor();
    expect(await page.getByRole('button', { name: /drain/i }).count()).toBe(0);
    await page.getByRole('alert').waitFor();
  });

  test('are accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/workers');
    await page.getByRole('cell', { name: 'Active' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'New worker token' }).click();
    await page.getByLabel('Executes runs of').selectOption('chosen applications');
    await page.getByRole('checkbox', { name: 'planner' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
