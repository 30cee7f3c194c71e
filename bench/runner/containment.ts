/**
 * Measures the cost of the runner beyond unavoidable process starts, in runs per second of a trivial program through
 * startRunner. The baseline is a process that only starts the same program in the same containment. Both alternate, so
 * that other load on the machine affects both equally.
 *
 * Run it: `node bench/runner/containment.ts [sandbox|limits]…`.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { inspectArchive } from '../../runner/archive/archive.ts';
import { APP_ROOT_PLACEHOLDER, resolveRunFolder } from '../../runner/filesystem/run-folder.ts';
import { computeEffectiveLimits } from '../../runner/host/limits.ts';
import { CGROUPS_FEATURE, probeHost } from '../../runner/host/probe-host.ts';
import { startRunner } from '../../runner/runner.ts';
import {
  buildCommandChain,
  type ChainInput,
  listStdioFiles,
  renderStartScript,
} from '../../runner/sandbox/command-chain.ts';
import type { LaunchPlan } from '../../runner/sandbox/launch-plan.ts';
import type { Containment, Limits, Runner } from '../../runner/types.ts';
import type { BareStartRequest } from './bare-starts.ts';

/** Rates of the runner and of bare starts, and their ratio. */
export interface RunnerBenchmark {
  containment: Containment;
  /** Medians over the rounds. */
  runsPerSecond: number;
  bareStartsPerSecond: number;
  /** Median of the ratios of each round: 1 means that the runner costs nothing. */
  ratio: number;
}

/** Extent of a measurement. */
export interface BenchmarkSize {
  rounds: number;
  /** Runs in a round. */
  runs: number;
}

const FULL: BenchmarkSize = { rounds: 7, runs: 120 };
/** Enough concurrent runs to keep the cores busy while single runs wait. */
const WIDTH = 2 * availableParallelism();
const PROGRAM = '#include <unistd.h>\nint main(void) { return write(1, "{}\\n", 3) == 3 ? 0 : 1; }\n';

/** Measures the levels in the arguments that this host supports. */
export async function benchmarkRunner(
  levels: Containment[] = ['sandbox', 'limits'],
  size: BenchmarkSize = FULL,
): Promise<RunnerBenchmark[]> {
  const results: RunnerBenchmark[] = [];
  for (const level of levels) {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
    chmodSync(folder, 0o711);
    try {
      results.push(await benchLevel(level, folder, size));
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('cannot run an app'))) throw error;
      console.warn(error.message);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return results;
}

async function benchLevel(
  containment: Containment,
  folder: string,
  { rounds: count, runs }: BenchmarkSize,
): Promise<RunnerBenchmark> {
  const program = buildTrivialProgram(folder);
  const runner = await startRunner({ folder: join(folder, 'runner'), randomBytes, containment });
  const limits = computeEffectiveLimits({ cores: 64, memoryBytes: 2 ** 30, durationMs: 60_000 }, runner.host);
  const order = await bareOrder({ containment, folder: join(folder, 'bare'), program, limits, runs });
  const baseline = fork(join(import.meta.dirname, 'bare-starts.ts'), [], { execArgv: [] });
  await new Promise((resolve) => baseline.once('message', resolve));
  const archive = await createArchive(program);
  const { hash } = await inspectArchive(Readable.from([archive]));
  const through = async (): Promise<number> => await runMany(runner, { archive, hash, limits, runs });
  const bare = async (): Promise<number> => await startMany(baseline, order);
  await through();
  await bare();
  const rounds: { through: number; bare: number }[] = [];
  for (let round = 0; round < count; round += 1) {
    const first = round % 2 === 0 ? await bare() : 0;
    const ours = await through();
    rounds.push({ through: ours, bare: first || (await bare()) });
  }
  baseline.disconnect();
  await runner.close();
  return {
    containment,
    runsPerSecond: median(rounds.map((round) => round.through)),
    bareStartsPerSecond: median(rounds.map((round) => round.bare)),
    ratio: median(rounds.map((round) => round.through / round.bare)),
  };
}

interface ManyRuns {
  archive: Buffer;
  hash: string;
  limits: Limits;
  runs: number;
}

async function runMany(runner: Runner, { archive, hash, limits, runs }: ManyRuns): Promise<number> {
  let left = runs;
  const disposals: Promise<void>[] = [];
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const app = runner.run(
        {
          key: randomUUID(),
          executable: { hash, open: async () => Readable.from([archive]) },
          type: 'binary',
          arguments: [],
          environment: {},
          secretFiles: [],
          input: { format: 'json', open: async () => Readable.from(['{}']) },
          outputFormat: 'json',
          limits,
          network: false,
        },
        { onStart: () => undefined, onLog: () => undefined },
      );
      const outcome = await app.done;
      if (outcome.kind === 'lost' || !outcome.succeeded)
        throw new Error(`A run failed: ${JSON.stringify(outcome)}`);
      disposals.push(app.dispose());
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: WIDTH }, worker));
  await Promise.all(disposals);
  return (runs * 1000) / (performance.now() - begun);
}

async function startMany(baseline: ChildProcess, order: BareStartRequest): Promise<number> {
  const result = new Promise<{ ms: number }>((resolve, reject) => {
    baseline.once('message', (message: { ms: number }) => resolve(message));
    baseline.once('exit', () => reject(new Error('The baseline process ended.')));
  });
  baseline.send(order);
  return (order.runs * 1000) / (await result).ms;
}

/** One prepared folder, used for every start. */
async function bareOrder(request: {
  containment: Containment;
  folder: string;
  program: string;
  limits: Limits;
  runs: number;
}): Promise<BareStartRequest> {
  const { containment, folder, program, limits, runs } = request;
  mkdirSync(folder, { mode: 0o711 });
  const { confinement } = await probeHost(
    { folder, containment },
    'bench',
    (name) => name !== CGROUPS_FEATURE,
  );
  const run = resolveRunFolder(join(folder, 'run'));
  const user = confinement.users?.first;
  mkdirSync(run.root, { mode: 0o711 });
  for (const path of [run.work, run.tmp]) mkdirSync(path);
  writeFileSync(join(run.work, 'main'), readFileSync(program), { mode: 0o755 });
  const plan: LaunchPlan = {
    key: 'bench',
    folder: run.root,
    executableFolder: folder,
    workingDirectory: '',
    folders: [],
    secretFiles: [],
    command: [`${APP_ROOT_PLACEHOLDER}/main`],
    environment: {},
    limits,
    network: false,
    stdoutIsLog: false,
    graceMs: 1000,
  };
  const input: ChainInput = { confinement, plan, folder: run, shared: [] };
  if (user !== undefined) input.user = user;
  writeFileSync(run.script, renderStartScript(input));
  writeFileSync(run.stdin, '{}');
  if (user !== undefined) for (const path of [run.work, run.tmp, run.script]) chownSync(path, user, user);
  return {
    ...buildCommandChain(input),
    // The launcher's own list: without the descriptor of the system call filter, a start exits with 1.
    files: listStdioFiles(input, 0o666),
    runs,
    concurrency: WIDTH,
  };
}

/** Builds a few lines of C if the host has a compiler, and otherwise writes the same as a shell script. */
export function buildTrivialProgram(folder: string): string {
  const path = join(folder, 'trivial');
  try {
    writeFileSync(`${path}.c`, PROGRAM);
    execFileSync('cc', ['-O1', '-static', '-o', path, `${path}.c`], { stdio: 'ignore' });
  } catch {
    writeFileSync(path, '#!/bin/sh\necho "{}"\n');
  }
  chmodSync(path, 0o755);
  return path;
}

async function createArchive(program: string): Promise<Buffer> {
  const tar = pack();
  tar.entry({ name: 'main', mode: 0o755 }, readFileSync(program));
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return gzipSync(Buffer.concat(chunks));
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

if (import.meta.main) {
  const levels = process.argv
    .slice(2)
    .filter((word): word is Containment => word === 'sandbox' || word === 'limits');
  for (const result of await benchmarkRunner(levels.length > 0 ? levels : undefined)) {
    const { containment, runsPerSecond, bareStartsPerSecond, ratio } = result;
    console.log(
      `${containment}: ${runsPerSecond.toFixed(0)} runs/s through the runner, ${bareStartsPerSecond.toFixed(0)} bare starts/s, ratio ${ratio.toFixed(2)}`,
    );
  }
}
