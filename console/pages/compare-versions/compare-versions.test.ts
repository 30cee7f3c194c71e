/** The files of two versions, compared in the browser. */
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { packFiles, pushArchive } from '@switchyard/server/testing/fixtures/apps.ts';
import { describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../testing/accessibility.ts';
import { setUpConsole } from '../../testing/console-visit.ts';
import { saveScreenshot } from '../../testing/save-screenshot.ts';

const MANIFEST = 'type: binary\nruntime: native\nfiles: ["**"]\n';
const MODEL = ['#!/bin/sh', '# Plans the tours of a day.', 'fleet=3', 'cost=10', 'speed=40', 'cat', ''];
const FIRST = {
  'app.yaml': MANIFEST,
  main: MODEL.join('\n'),
  'data/rates.csv': 'zone,price\nnorth,4\n',
  'old.txt': 'gone\n',
  'picture.bin': Buffer.from([0, 1]),
};
const SECOND = {
  'app.yaml': MANIFEST,
  main: MODEL.join('\n').replace('cost=10', 'cost=12\nbonus=2'),
  'data/rates.csv': FIRST['data/rates.csv'],
  'data/fees.csv': 'zone,fee\nnorth,1\n',
  'picture.bin': Buffer.from([0, 2]),
};

/** Its new file has a name and a line that would reorder text or run as script. */
const THIRD = { ...SECOND, 'a\u202etxt.sh': '\t<img src=x onerror=alert(1)>\u202e\n' };

describe.skipIf(!hasBrowser)('the comparison of versions', () => {
  const at = setUpConsole(async (server) => {
    const params = { application_id: 'routing' };
    await server.client.call('createApplication', { body: { id: 'routing', name: 'Vehicle routing' } });
    for (const [index, files] of [FIRST, SECOND, THIRD].entries()) {
      const requirements = { executable_type: 'binary', runtime: 'native' };
      await pushArchive(server, 'routing', await packFiles(files), { requirements });
      await server.client.call('createVersion', { params, body: { id: `v${index + 1}` } });
    }
  });

  test('lists the files that differ, and the lines of one', async () => {
    const page = await at.open('/apps/routing');
    await page.getByRole('link', { name: 'Compare versions' }).click();
    await page.getByLabel('From').selectOption('v1');
    await page.getByLabel('To').selectOption('v2');
    const files = page.getByRole('navigation', { name: 'Files' });
    await files.getByText('2 changed, 1 added, 1 removed, 2 unchanged').waitFor();
    await files.getByRole('link', { name: 'main' }).click();
    const lines = page.getByRole('region', { name: 'Changed lines' });
    await lines.getByRole('row', { name: 'cost=10' }).waitFor();
    expect(await lines.getByRole('row').allInnerTexts()).toEqual(
      [
        ['Before', 'After', 'Change', 'Line'],
        ['1', '1', '', '#!/bin/sh'],
        ['2', '2', '', '# Plans the tours of a day.'],
        ['3', '3', '', 'fleet=3'],
        ['4', '', '-', 'cost=10'],
        ['', '4', '+', 'cost=12'],
        ['', '5', '+', 'bonus=2'],
        ['5', '6', '', 'speed=40'],
        ['6', '7', '', 'cat'],
      ].map((cells) => cells.join('\t')),
    );
    await saveScreenshot(page.getByRole('article'), 'get-started/concepts/console-versions.png');
    await page.reload();
    await lines.getByRole('row', { name: 'bonus=2' }).waitFor();
    await files.getByRole('link', { name: 'picture.bin' }).click();
    await page.getByText('The file is binary.').waitFor();
  });

  test('shows hostile names and lines as text', async () => {
    const page = await at.open('/apps/routing/compare-versions?from=v2&to=v3');
    await page.getByRole('link', { name: 'a\\u202etxt.sh' }).click();
    await page.getByRole('cell', { name: '<img src=x onerror=alert(1)>\\u202e' }).waitFor();
  });

  test('finds no difference between a version and itself, and is accessible on a phone', async () => {
    const phone = await at.openOnPhone('/apps/routing/compare-versions?from=v2&to=v1&file=main');
    await phone.getByRole('row', { name: 'bonus=2' }).waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
    await phone.getByLabel('To').selectOption('v2');
    await phone.getByText('No difference: both have the same 5 files.').waitFor();
  });

  test('is not offered to an operator, who may not push', async () => {
    const page = await at.open('/apps/routing/compare-versions', { role: 'operator' });
    await page.getByText('Only roles that may push an app read its files.').waitFor();
  });
});
