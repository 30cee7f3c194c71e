/** Choices among hundreds of things: two hundred instances, with names in several scripts. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import type { TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { describe, expect, test } from 'vitest';
import { containsWords } from '../../client/contains-words.ts';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { ECHO_APP, ECHO_APP_TYPE } from '../../testing/hostile-output.ts';

const INSTANCES = 200;

test.each([
  ['', true],
  ['prod', true],
  ['ATHENS prod', true],
  ['v14', true],
  ['athens v15', false],
])('the words %j find the instance: %j', (typed, isFound) => {
  expect(containsWords('Production Athens prod-7 v14', typed)).toBe(isFound);
});

/** Creates instances at ten places each. */
async function prepareInstances(server: TestServer): Promise<void> {
  await pushApp(server, 'echo', ECHO_APP, ECHO_APP_TYPE);
  const params = { application_id: 'echo' };
  await server.client.call('createVersion', { params, body: { id: 'v1' } });
  for (let number = 1; number <= INSTANCES; number += 1) {
    const body = { id: `depot-${number}-nord`, name: `Склад ${number}`, version_id: 'v1' };
    await server.client.call('createInstance', { params, body });
  }
}

describe.skipIf(!hasBrowser)('a field with many choices', () => {
  const at = setUpConsole(prepareInstances);

  test('is searched by the keyboard, says how many match, and keeps the choice on Escape', async () => {
    const page = await at.open('/apps/echo/new-ensemble');
    const field = page.getByRole('combobox', { name: 'Instance' });
    await field.focus();
    await page.getByText(`50 of ${INSTANCES + 1}`).waitFor();
    await page.keyboard.type('177');
    await page.getByText(`1 of ${INSTANCES + 1}`).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('depot-177-nord');
    await page.keyboard.type('99');
    await page.keyboard.press('Escape');
    await expect.poll(() => field.inputValue()).toBe('depot-177-nord');
  });

  test('is accessible while it is open, on a phone in both themes', async () => {
    const page = await at.openOnPhone('/apps/echo/new-ensemble');
    await page.getByRole('combobox', { name: 'Instance' }).click();
    await page.getByRole('listbox').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
