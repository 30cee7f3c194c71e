/** The log search: from a text to the line of a run. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRunAndWait, pushApp } from '@switchyard/server/testing/fixtures/apps.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';

/** Prints the text of its option. */
const APP = `#!/bin/sh
printf 'reading\\n%s\\n' "$2" >&2
echo '{}'
`;
const HOSTILE = '<b>evil</b> \u202einfeasible';

describe.skipIf(!hasBrowser)('the log search', () => {
  const runs: string[] = [];
  const at = setUpConsole(async (server) => {
    await pushApp(server, 'routing', { main: APP }, { executable_type: 'binary', runtime: 'native' });
    for (const [name, message] of [
      ['Monday', 'model is INFEASIBLE'],
      ['Tuesday', 'optimal'],
      ['<b>evil</b>', `error: ${HOSTILE}`],
    ])
      runs.push(
        (await createRunAndWait(server, 'routing', { input: {}, body: { name, options: { message } } })).id,
      );
  });

  test('leads from the runs to the line of a log, and back to the results', async () => {
    const page = await at.open('/apps/routing/runs');
    await page.getByRole('link', { name: 'Search logs' }).click();
    await page.getByText('Find the runs that print a text').waitFor();
    await page.getByLabel('Text in the log').fill('infeasible');
    await page.keyboard.press('Enter');
    await page.getByText('2 of 3 examined runs match').waitFor();
    const results = page.getByRole('list', { name: 'Runs with matching lines' });
    await results.getByText('error: <b>evil</b> ⟨U+202E⟩infeasible').waitFor();
    expect(await results.locator('mark').allInnerTexts()).toEqual(['infeasible', 'INFEASIBLE']);
    await results.getByRole('link', { name: 'Line 2 model is INFEASIBLE' }).click();
    await page.locator('[data-chosen]').getByText('model is INFEASIBLE').waitFor();
    expect(page.url()).toContain(`/apps/routing/runs/${runs[0]}?tab=log&line=2`);
    await page.goBack();
    await page.getByText('2 of 3 examined runs match').waitFor();
    await page.getByLabel('Level').selectOption('error');
    await page.getByText('1 of 3 examined runs match').waitFor();
    await page.reload();
    await page.getByText('1 of 3 examined runs match').waitFor();
    await page.getByLabel('Text in the log').fill('absent');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('No log has such a line').waitFor();
  });

  test('is accessible on a phone in both themes', async () => {
    const page = await at.openOnPhone('/apps/routing/logs?text=infeasible');
    await page.getByText('2 of 3 examined runs match').waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});
