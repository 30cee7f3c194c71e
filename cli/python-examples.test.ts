/**
 * The Python programs of the pages as their reader: the files of a page, in order, with the published client and a server
 * of their own. The programs of other pages are run by documentation.test.ts.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { installPythonPackage } from '@switchyard/server/testing/python/python-package.ts';
import { startTestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { extractExamples } from '@switchyard/site/examples.ts';
import { expect, test } from 'vitest';

const ROUTE = '/docs/python-sdks';

const installed = await installPythonPackage('nextmv').catch(() => null);

// It needs Python and the client from the index of packages; client.test.ts says which is missing.
test.skipIf(installed === null)(`the Python programs of ${ROUTE}`, { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-python-'));
  await using server = await startTestServer();
  try {
    const files = extractExamples(ROUTE).filter((step) => step.kind === 'file');
    for (const { path, text } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    // The files in folders are apps, which the programs push.
    const programs = files.map(({ path }) => path).filter((path) => /^[^/]+\.py$/.test(path));
    expect(programs.length).toBeGreaterThan(0);
    for (const program of programs) {
      const ended = await python(program, folder, { url: server.url, token: server.token });
      expect(ended.code, `${program}: ${ended.stderr}`).toBe(0);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function python(
  program: string,
  cwd: string,
  server: { url: string; token: string },
): Promise<{ code: number; stderr: string }> {
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    NEXTMV_ENDPOINT: server.url,
    NEXTMV_API_KEY: server.token,
  };
  return new Promise((resolve) => {
    execFile(installed?.interpreterPath ?? 'python3', [program], { cwd, env }, (error, _stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stderr }),
    );
  });
}
