/** Backups in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function addBackup(server: TestServer, daysAgo: number, checked: object): Promise<void> {
  const at = Date.now() - daysAgo * DAY_MS;
  const backup = {
    ...{ id: `backup-${daysAgo}`, made_at: at, finished_at: at + 72_000, folder: `/backups/${daysAgo} days` },
    ...{ rows: 1200, blobs: 3, bytes: 5 * 1024 * 1024, copied_bytes: 0, has_key: 1 as const },
  };
  await server.runningServer.database.transact((tx) =>
    tx
      .insertInto('backups')
      .values({ ...backup, verified_at: null, problem: '', ...checked })
      .execute(),
  );
}

describe.skipIf(!hasBrowser)('backups', () => {
  const at = setUpConsole();

  test('are listed with their age and check, and the commands', async () => {
    const page = await at.open('/account/backups');
    await page.getByRole('heading', { name: 'No backup yet' }).waitFor();
    expect(await page.title()).toBe('Backups · Switchyard');
    await addBackup(at.server, 4, { verified_at: Date.now() - DAY_MS });
    await page.reload();
    await page.getByText('more than two days old').waitFor();
    await page.getByRole('cell', { name: 'Whole, yesterday' }).waitFor();
    await addBackup(at.server, 1, { verified_at: Date.now(), problem: 'A blob is missing.' });
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'A blob is missing.' }).waitFor();
    const cells = page.getByRole('row').nth(1).getByRole('cell');
    expect(await cells.allTextContents()).toEqual(
      expect.arrayContaining([
        'yesterday',
        '/backups/1 days',
        '1,200',
        '1\u00a0min\u00a012\u00a0s',
        'Damaged, just now',
      ]),
    );
    expect(await page.getByText('more than two days old').count()).toBe(0);
    await page.getByText("npm run restore -- '/backups/1 days' --check").waitFor();
  });

  test('are accessible on a phone in both themes', async () => {
    await addBackup(at.server, 0, {});
    const page = await at.openOnPhone('/account/backups');
    await page.getByRole('heading', { name: 'Commands' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
