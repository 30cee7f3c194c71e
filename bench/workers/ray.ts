/**
 * The same trivial program on this machine with the same number of slots: as tasks of Ray that each start it as a subprocess, and
 * as runs of Switchyard. Both have started before the time begins. A run of Switchyard is stored, has a sandbox, limits, a log
 * and results; a task of Ray has none of them.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packFiles } from '../../server/testing/fixtures/apps.ts';
import { installPythonPackage } from '../../server/testing/python/python-package.ts';
import {
  BINARY_MANIFEST,
  createRuns,
  printLine,
  printRatio,
  pushApp,
  startSwitchyard,
  waitForEndedRuns,
} from '../server/harness.ts';

const run = promisify(execFile);

const APP = '#!/bin/sh\necho "{}"\n';
const POLL_MS = 20;
const TIMEOUT_MS = 10 * 60_000;

interface RaySettings {
  slots: number;
  runs: number;
}

/** Prints the rates of both, or why Ray could not be measured. */
export async function compareWithRay({ slots, runs }: RaySettings): Promise<void> {
  const ray = await measureRay({ slots, runs }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    printLine(`SKIPPING the comparison with Ray: ${reason.trim().split('\n').at(-1)}`);
    return null;
  });
  if (ray === null) return;
  const ours = await measureSwitchyard({ slots, runs });
  printRatio(`${runs} trivial jobs on ${slots} slots of this machine, beside Ray`, ours, ray, ours / ray);
}

/** Returns the tasks a second. Throws when Ray cannot be installed or does not start. */
async function measureRay({ slots, runs }: RaySettings): Promise<number> {
  const { interpreterPath } = await installPythonPackage('ray');
  // Sockets are in it, whose paths must be short.
  const folder = mkdtempSync(join(tmpdir(), 'ray-'));
  try {
    const program = join(folder, 'main');
    writeFileSync(program, APP, { mode: 0o755 });
    const script = join(import.meta.dirname, 'ray-jobs.py');
    const { stdout } = await run(interpreterPath, [script, program, String(slots), String(runs), folder], {
      env: { ...process.env, RAY_USAGE_STATS_ENABLED: '0', RAY_DEDUP_LOGS: '0' },
      timeout: TIMEOUT_MS,
    });
    const { seconds }: { seconds: number } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    return runs / seconds;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the runs a second from the first request to the last end. */
async function measureSwitchyard({ slots, runs }: RaySettings): Promise<number> {
  const server = await startSwitchyard({ SWITCHYARD_CAPACITY: String(slots) });
  try {
    await pushApp(server, await packFiles({ 'app.yaml': BINARY_MANIFEST, main: APP }), 'binary');
    const warmUp = 4 * slots;
    await createRuns(server, warmUp);
    await waitForEndedRuns(server, warmUp, POLL_MS);
    const start = performance.now();
    await createRuns(server, runs);
    await waitForEndedRuns(server, warmUp + runs, POLL_MS);
    return runs / ((performance.now() - start) / 1000);
  } finally {
    await server.stop();
  }
}
