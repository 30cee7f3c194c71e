/** An app is pushed from the browser, as a folder and as an archive, and runs. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { createRunAndWait, packEntries, packFiles } from '@switchyard/server/testing/fixtures/apps.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAccessibilityProblems } from '../../../testing/accessibility.ts';
import { setUpConsole } from '../../../testing/console-visit.ts';

const MANIFEST = 'type: binary\nruntime: native\nfiles: ["**"]\n';

describe.skipIf(!hasBrowser)('a push from the browser', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'push-'));
    const app = join(folder, 'my-app');
    await mkdir(join(app, '.git'), { recursive: true });
    await mkdir(join(app, 'parts'));
    await writeFile(join(app, 'app.yaml'), MANIFEST);
    await writeFile(join(app, 'main'), '#!/bin/sh\nsh parts/answer.sh\n');
    await writeFile(join(app, 'parts', 'answer.sh'), `echo '{"from": "folder"}'\n`);
    await writeFile(join(app, '.git', 'config'), 'private');
  });
  afterAll(() => rm(folder, { recursive: true }));
  const at = setUpConsole(async (server) => {
    await server.client.call('createApplication', { body: { id: 'fresh', name: 'Fresh' } });
  });
  const readOutput = async () => (await createRunAndWait(at.server, 'fresh', { input: {} })).output;

  test('W6: as a folder runs, without the folders of tools, which are named', async () => {
    const page = await at.open('/apps/fresh');
    await page.getByRole('button', { name: 'Push app' }).click();
    await page.getByLabel('Folder').setInputFiles(join(folder, 'my-app'));
    await page.getByRole('status').filter({ hasText: 'The app is active: 3 files' }).waitFor();
    await page.getByText('Left out: .git (files of tools, not of the app).').waitFor();
    expect(await readOutput()).toEqual({ from: 'folder' });
    await page.keyboard.press('Escape');
    await page.getByText('native').first().waitFor();
  });

  test('as an archive replaces it, and a file that holds no app is refused', async () => {
    const page = await at.open('/apps/fresh');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Push app' }).click();
    const choose = (name: string, buffer: Buffer) =>
      page.getByLabel('Archive').setInputFiles({ name, mimeType: 'application/gzip', buffer });
    await choose('app.tar.gz', Buffer.from('no archive'));
    await page.getByRole('alert').filter({ hasText: 'app.tar.gz is not a gzip tar' }).waitFor();
    await choose('app.tar.gz', await packFiles({ main: '#!/bin/sh\n' }));
    await page.getByRole('alert').filter({ hasText: 'has no app.yaml at its root' }).waitFor();
    const outside = await packEntries([
      { name: 'app.yaml', content: MANIFEST },
      { name: '../escape', content: '' },
    ]);
    await choose('app.tar.gz', outside);
    await page.getByRole('alert').filter({ hasText: '../escape' }).waitFor();
    const main = `#!/bin/sh\necho '{"from": "archive"}'\n`;
    await choose(
      'app.tar.gz',
      await packFiles({ 'x.bin': Buffer.alloc(300_000, 7), 'app.yaml': MANIFEST, main }),
    );
    await page.getByRole('status').filter({ hasText: 'The app is active' }).waitFor();
    expect(await readOutput()).toEqual({ from: 'archive' });
  });

  test('is not offered to an operator, and is accessible on a phone in both themes', async () => {
    const operator = await at.open('/apps/fresh', { role: 'operator' });
    await operator.getByRole('heading', { name: 'Fresh' }).waitFor();
    for (const name of ['Push app', 'More actions'])
      expect(await operator.getByRole('button', { name }).count()).toBe(0);
    const phone = await at.openOnPhone('/apps/fresh');
    await phone.getByRole('button', { name: 'More actions' }).first().click();
    await phone.getByRole('button', { name: 'Push app' }).click();
    await phone.getByLabel('Folder').waitFor();
    expect(await findAccessibilityProblems(phone)).toEqual([]);
  });
});
