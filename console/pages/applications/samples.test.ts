/** The gallery of an account without an application: one click pushes a sample and opens the form of its first run. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { waitForRunEnd } from '@switchyard/server/testing/fixtures/apps.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { SAMPLES } from './sample-list.ts';

describe.skipIf(!hasBrowser)('the sample apps', () => {
  const at = setUpConsole();

  test('are built with their inputs, and shown on a phone without violations', async () => {
    for (const { folder } of SAMPLES) {
      const archive = await fetch(`${at.server.url}/console/samples/${folder}.tgz`);
      expect([...new Uint8Array(await archive.arrayBuffer()).slice(0, 2)]).toEqual([0x1f, 0x8b]);
      const input = await fetch(`${at.server.url}/console/samples/${folder}.json`);
      expect(await input.json()).toBeTypeOf('object');
    }
    const phone = await at.openOnPhone('/');
    await phone.getByRole('heading', { name: 'Sample apps' }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
    const viewer = await at.open('/', { role: 'viewer' });
    await viewer.getByRole('heading', { name: 'Sample apps' }).waitFor();
    expect(await viewer.getByRole('button', { name: /^Push sample/ }).count()).toBe(0);
  });

  test('are pushed by one click, which opens the form of the first run with the sample input', async () => {
    const page = await at.open('/');
    await page.getByRole('button', { name: 'Push sample: Vehicle routing' }).click();
    await page.getByRole('heading', { name: 'New run' }).waitFor();
    expect(new URL(page.url()).search).toBe('?input=sample');
    await page.getByLabel('Duration (s)').fill('0.2');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\//);
    const run = await waitForRunEnd(
      at.server,
      'routing',
      new URL(page.url()).pathname.split('/').at(-1) ?? '',
    );
    expect(run.status_v2).toBe('succeeded');
  });
});
