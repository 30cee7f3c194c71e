import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createScratchFolder, removeFolder } from '../testing/runner-harness.ts';

/** Below /tmp, which every sandbox replaces by its own. */
let place: string;
beforeAll(() => {
  place = mkdtempSync('/tmp/switchyard-node-');
  chmodSync(place, 0o755);
});
afterAll(() => removeFolder(place));

test('apps find a Node that is installed below /tmp', () => {
  const scratch = createScratchFolder();
  try {
    const node = join(place, 'bin', 'node');
    mkdirSync(join(place, 'bin'));
    copyFileSync(process.execPath, node);
    const fixture = join(import.meta.dirname, '..', 'testing', 'node-app.ts');
    const outcome = JSON.parse(
      execFileSync(node, [fixture, scratch], { encoding: 'utf8', env: { PATH: process.env.PATH } }),
    );
    expect(outcome).toMatchObject({ error: '', stdout: '{}\n' });
  } finally {
    removeFolder(scratch);
  }
});
