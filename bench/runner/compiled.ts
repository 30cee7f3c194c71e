/**
 * Measures what an app saves through one compilation of its executable (`executable-compiler.ts`). It compares the
 * duration of runs that compile for themselves with that of later runs. Each round begins with an executable without
 * any run, so both kinds alternate.
 *
 * Run it: `node bench/runner/compiled.ts [--rounds 5] [archive type [input]]`. The default archive is the routing app
 * on its sample.
 */

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { inspectArchive } from '../../runner/archive/archive.ts';
import { computeEffectiveLimits } from '../../runner/host/limits.ts';
import { startRunner } from '../../runner/runner.ts';
import type { ExecutableType } from '../../runner/types.ts';

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const ROUNDS = Number(values.rounds);
/** Runs of each kind in a round; two runs precede the compilation of an executable. */
const RUNS = 2;

const scratch = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
try {
  const [archivePath, type = 'node', inputPath] = positionals;
  const routing = join(import.meta.dirname, '..', '..', 'sample-apps', 'vehicle-routing');
  const archive = archivePath ?? join(scratch, 'routing.tar.gz');
  if (archivePath === undefined)
    execFileSync('tar', ['-czf', archive, '-C', routing, 'package.json', 'main.ts', 'src']);
  const input = inputPath ?? (archivePath === undefined ? join(routing, 'input.json') : undefined);
  const options = archivePath === undefined ? ['-duration', '0', '-iterations', '1'] : [];
  const before: number[] = [];
  const after: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await measure(
      { archive, type: type as ExecutableType, input, options },
      join(scratch, `${round}`),
    );
    before.push(...found.before);
    after.push(...found.after);
  }
  const [one, other] = [median(before), median(after)];
  console.log(
    `${before.length} runs that compile: ${Math.round(one)} ms; ${after.length} after: ${Math.round(other)} ms (medians); ${(other / one).toFixed(2)} of it`,
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The measured app and the run that repeats. */
interface MeasuredApp {
  archive: string;
  type: ExecutableType;
  input: string | undefined;
  options: string[];
}

/** Returns the durations in ms of runs before and after the compilation, with the runner in this folder. */
async function measure(
  { archive, type, input, options }: MeasuredApp,
  folder: string,
): Promise<{ before: number[]; after: number[] }> {
  const { hash } = await inspectArchive(createReadStream(archive));
  const compiled = Promise.withResolvers<void>();
  const runner = await startRunner({
    folder,
    randomBytes,
    containment: 'sandbox',
    onDiagnostic: ({ event, message }) => {
      if (event === 'executable-compiled') compiled.resolve();
      if (event === 'executable-not-compiled') compiled.reject(new Error(message));
    },
  });
  let count = 0;
  const measureRun = async (): Promise<number> => {
    count += 1;
    const app = runner.run(
      {
        key: `bench-${count}`,
        executable: { hash, open: async () => createReadStream(archive) },
        type,
        arguments: options,
        environment: {},
        secretFiles: [],
        input: {
          format: 'json',
          open: async () => (input === undefined ? Readable.from(['{}']) : createReadStream(input)),
        },
        outputFormat: 'json',
        network: false,
        limits: computeEffectiveLimits({ cores: 2, memoryBytes: 2 ** 31, durationMs: 120_000 }, runner.host),
      },
      { onStart: () => undefined, onLog: () => undefined },
    );
    const outcome = await app.done;
    if (outcome.kind === 'lost') throw new Error(outcome.error);
    if (!outcome.succeeded)
      throw new Error(`${outcome.error} ${readFileSync(outcome.stderr.path, 'utf8').slice(0, 500)}`);
    await app.dispose();
    return outcome.executionMs;
  };
  const several = async (): Promise<number[]> => {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) times.push(await measureRun());
    return times;
  };
  try {
    const before = await several();
    await compiled.promise;
    return { before, after: await several() };
  } finally {
    await runner.close();
  }
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
