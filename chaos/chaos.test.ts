/** Runs the chaos test as a user starts it, for some seconds: all promises hold, and it leaves nothing behind. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { findProcessesInFolder } from '../server/testing/host/processes.ts';
import type { Report } from './report.ts';

/** Returns the exit code of the program and its report. */
function run(folder: string, ...args: string[]): Promise<{ code: number; report: Report }> {
  const main = join(import.meta.dirname, 'main.ts');
  return new Promise((resolve, reject) =>
    execFile(
      process.execPath,
      [main, '--json', '--quiet', ...args],
      { env: { ...process.env, TMPDIR: folder } },
      (error, stdout, stderr) => {
        if (stdout === '') reject(new Error(stderr));
        else resolve({ code: Number(error?.code ?? 0), report: JSON.parse(stdout) as Report });
      },
    ),
  );
}

test('a server keeps its promises under kills, a full disk and a wrong clock, and the chaos test leaves nothing', async () => {
  const database = inject('postgres') ? 'postgres' : 'sqlite';
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-chaos-test-'));
  chmodSync(folder, 0o711);
  try {
    const parameters = [
      '--minutes',
      '0.08',
      '--every',
      '0.3',
      '--clients',
      '4',
      '--seed',
      '7',
      '--database',
      database,
    ];
    const { code, report } = await run(folder, ...parameters);
    const broken = report.checks.filter(({ violations }) => violations.length > 0);
    expect({ code, broken }).toEqual({ code: 0, broken: [] });
    expect(report).toMatchObject({ database, seed: '7', outcome: 'held', folder: null });
    expect(Object.values(report.injected).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    expect(report.requested['runs, each acknowledged with 202']).toBeGreaterThan(0);
    expect(readdirSync(folder)).toEqual([]);
    expect(findProcessesInFolder(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
