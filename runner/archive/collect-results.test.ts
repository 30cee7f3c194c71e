/** Rejected results of an app, at either level. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRunner } from '../runner.ts';
import { createArchiveInput, createTarOfFiles } from '../testing/archives.ts';
import { createScratchFolder, createShellApp, removeFolder, runApp } from '../testing/runner-harness.ts';
import type { Runner } from '../types.ts';

const folder = createScratchFolder();
let runner: Runner;
beforeAll(async () => {
  runner = await startRunner({ folder, randomBytes });
});
afterAll(async () => {
  await runner.close();
  removeFolder(folder);
});

test.each([
  ['a name that is no UTF-8', `: > "$(printf 'out\\377')"`, 'is not UTF-8'],
  ['folders 100 deep', 'seq 100 | while read -r _; do mkdir d; cd d; done', 'more than 64 levels deep'],
  ['20,001 files', 'seq 20001 | xargs touch', 'more than 20000 files'],
])('solutions of %s fail the run with a sentence', async (_, commands, words) => {
  const { outcome } = await runApp(runner, {
    files: createShellApp(`cd outputs/solutions\n${commands}`),
    limits: { fileBytes: 1024 ** 3, files: 100_000 },
    input: createArchiveInput('multi-file', await createTarOfFiles({ 'a.csv': '' })),
  });
  expect(outcome).toMatchObject({ succeeded: false, reason: 'output', exitCode: 0 });
  expect(outcome.error).toContain(words);
  expect(outcome.solutions).toBeUndefined();
});
