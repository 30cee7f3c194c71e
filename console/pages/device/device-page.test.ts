/** The sign-in of a program by its code, in the console. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { DEVICE_CODE_HEADER } from '@switchyard/contract/account/sign-in/device-authorizations.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

describe.skipIf(!hasBrowser)('the sign-in of a program', () => {
  const at = setUpConsole();
  const start = async (client_name = 'switchyard on build-7') =>
    (await at.server.client.call('startDeviceAuthorization', { body: { client_name } })).body;
  const readStatus = async (device_code: string) =>
    (
      await at.server.client.call('getDeviceAuthorizationStatus', {
        headers: { [DEVICE_CODE_HEADER]: device_code },
      })
    ).body.status;

  test('shows who asks after the sign-in of the person, and gives a key with the chosen role', async () => {
    const { device_code, verification_uri_complete } = await start();
    const page = await at.openSignedOut(verification_uri_complete.slice(`${at.server.url}/console`.length));
    await page.getByLabel('API token').fill(at.server.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const request = page.getByRole('region', { name: 'Program that asks' });
    await request.getByText('switchyard on build-7').waitFor();
    await request.getByText('127.0.0.1').waitFor();
    expect(await page.getByLabel('Role').inputValue()).toBe('root');
    await page.getByLabel('Role').selectOption('operator');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('gets a key with the role operator').waitFor();
    const { body } = await at.server.client.call('redeemDeviceAuthorization', { body: { device_code } });
    expect(body).toMatchObject({ name: 'switchyard on build-7', role: 'operator' });
  });

  test('by keyboard: a code in lower case is found, and a denied program gets nothing', async () => {
    const { device_code, user_code } = await start();
    const page = await at.open('/device', { role: 'viewer' });
    await page.getByLabel('Code').fill(user_code.toLowerCase().replace('-', ' '));
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Deny' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('gets no key').waitFor();
    expect(await readStatus(device_code)).toBe('denied');
    await page.reload();
    await page.getByText('gets no key').waitFor();
  });

  test('an unknown code says so and can be corrected', async () => {
    const page = await at.open('/device?user_code=BBBB-BBBB');
    await page.getByRole('alert').filter({ hasText: 'No program waits with the code' }).waitFor();
    expect(await page.getByLabel('Code').inputValue()).toBe('BBBB-BBBB');
  });

  test('a frame of another page shows nothing, and a form of another site decides nothing', async () => {
    const { device_code, user_code } = await start();
    const response = await fetch(`${at.server.url}/console/device`);
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const page = await at.open('/device');
    const statuses = [];
    for (const origin of ['https://evil.example', 'null'])
      statuses.push(
        (
          await page.context().request.post(`${at.server.url}/v1/account/device-authorizations/approve`, {
            headers: { origin, 'x-switchyard-console': '1' },
            data: { user_code },
          })
        ).status(),
      );
    expect(statuses).toEqual([403, 403]);
    expect(await readStatus(device_code)).toBe('pending');
  });

  test('is accessible on a phone in both themes', async () => {
    const { user_code } = await start('x<b>program</b> with a rather long name');
    const page = await at.openOnPhone(`/device?user_code=${user_code}`);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.goto(`${at.server.url}/console/device`);
    await page.getByLabel('Code').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
