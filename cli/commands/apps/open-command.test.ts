/** `open` prints the address of a page of the console, or starts a browser with it. It needs no server. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Ended, runCommand } from '../../testing/run-command.ts';

const SERVER = 'http://127.0.0.1:1';
const folder = mkdtempSync(join(tmpdir(), 'switchyard-open-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cli = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  runCommand(args, {
    cwd: folder,
    env: { SWITCHYARD_URL: SERVER, SWITCHYARD_TOKEN: 'token', SWITCHYARD_APP: 'plan', ...env },
  });

test('prints the page of a run', async () => {
  const { stdout } = await cli(['open', 'run-1', '--print']);
  expect(stdout).toBe(`${SERVER}/console/apps/plan/runs/run-1\n`);
});

test('starts the program in BROWSER with the page of the application', async () => {
  const opened = join(folder, 'opened');
  const browser = join(folder, 'browser.sh');
  const script = `#!/bin/sh\nprintf %s "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`;
  writeFileSync(browser, script, { mode: 0o755 });
  expect((await cli(['open'], { BROWSER: browser })).code).toBe(0);
  await expect.poll(() => statSync(opened, { throwIfNoEntry: false })?.size).toBeGreaterThan(0);
  expect(readFileSync(opened, 'utf8')).toBe(`${SERVER}/console/apps/plan`);
  // Without BROWSER and a screen there is no browser.
  expect(await cli(['open'])).toMatchObject({ code: 0, stderr: expect.stringContaining('No browser') });
});
