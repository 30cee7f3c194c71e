/** Members of the account in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createEmail, memberCalls } from '@switchyard/server/testing/fixtures/members.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

const ADMIN = createEmail();
/** Height in pixels of the heading with the table of three members. */
const SCREENSHOT_HEIGHT = 265;

async function addAdmin(server: TestServer): Promise<void> {
  await memberCalls(() => server).addMember(server.token, 'admin', ADMIN);
}

describe.skipIf(!hasBrowser)('the members', () => {
  const at = setUpConsole(addAdmin);

  test('a person is invited, changes role, and is removed', async () => {
    const page = await at.open('/account/members');
    await page.getByRole('button', { name: 'Invite member' }).click();
    await page.getByLabel('E-mail address').fill('grace@example.com');
    await page.getByLabel('Role', { exact: true }).selectOption('operator');
    await page.getByRole('button', { name: 'Create invite' }).click();
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    const invite = new URL(link).searchParams.get('invite');
    await page.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row', { name: /grace@example.com/ });
    await row.getByText('invited, the link ends').waitFor();
    expect(await page.getByRole('row').nth(1).textContent()).toContain('grace@example.com');
    const accepted = await at.server.request('POST', '/v1/account/invites/accept', {
      token: null,
      body: { invite },
    });
    expect(accepted.status).toBe(201);

    await page.reload();
    await row.waitFor();
    expect(await row.getByText('invited').count()).toBe(0);
    await saveScreenshot(
      page.getByRole('main').locator('header'),
      'using-switchyard/accounts/console-members.png',
      SCREENSHOT_HEIGHT,
    );
    await page.getByRole('button', { name: 'Actions of grace@example.com' }).click();
    await page.getByRole('button', { name: 'Change the role of grace@example.com' }).click();
    await page.getByLabel('Role', { exact: true }).selectOption('viewer');
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
    await row.getByText('viewer').waitFor();

    await page.getByRole('button', { name: 'Actions of grace@example.com' }).click();
    await page.getByRole('button', { name: 'Remove grace@example.com' }).click();
    await page.getByLabel('Type grace@example.com to confirm').fill('grace@example.com');
    await page.getByRole('button', { name: 'Remove member' }).click();
    await row.waitFor({ state: 'detached' });
  });

  test('the account gets another name', async () => {
    const page = await at.open('/account/members');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Rename account' }).click();
    await page.getByLabel('Name of the account').fill('Dispatch');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByText(/^Dispatch: \d/).waitFor();
  });

  test('a viewer sees the members without actions', async () => {
    const page = await at.open('/account/members', { role: 'viewer' });
    await page.getByRole('row', { name: new RegExp(ADMIN) }).waitFor();
    expect(await page.getByRole('button', { name: /^(Actions of|More actions|Invite)/ }).count()).toBe(0);
    await page.goto(`${at.server.url}/console/account/audit`);
    await page.getByRole('heading', { name: 'Your role cannot open this page' }).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/account/members');
    await page.getByRole('row', { name: new RegExp(ADMIN) }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
