/**
 * The adapter for Slurm. A job is a batch script on the standard input of `sbatch` that becomes the worker.
 *
 * The token travels in the environment of the job, by `--export` with the name of the variable alone. It needs no file that the
 * nodes can read. `scontrol show job`, `squeue` and the lists of processes do not show it. Only the user of the job, root and
 * the administrators of Slurm can read it.
 */
import { quoteShell } from '@switchyard/runner';
import type { SlurmSettings } from '../../../platform/settings/provisioner-settings.ts';
import { formatWorkerArguments, type JobRequest, TOKEN_VARIABLE, type WorkerAdapter } from './adapter.ts';
import { type RunCommand, runCommand } from './run-command.ts';
import { parseSqueue } from './squeue.ts';

/** Seconds before the end of the job's time limit at which its worker drains. */
const DRAIN_SECONDS = 30;
/** A job that has just ended is no error for a caller who wants it to end. */
const GONE = /Invalid job id|already completing|already completed|Job\/step already/i;

/** Creates the adapter. `env` is the environment of `sbatch`, `squeue` and `scancel`. */
export function createSlurmAdapter(
  settings: SlurmSettings,
  env: NodeJS.ProcessEnv,
  execute: RunCommand = runCommand,
): WorkerAdapter {
  const run = (program: string, args: string[]): Promise<string> => execute(program, args, { env });
  const cancel = async (...args: string[]): Promise<void> => {
    try {
      await run('scancel', args);
    } catch (error) {
      if (!(error instanceof Error && GONE.test(error.message))) throw error;
    }
  };
  return {
    kind: 'slurm',
    async start(request) {
      const output = await execute('sbatch', formatSbatchArguments(settings, request), {
        env: { ...env, [TOKEN_VARIABLE]: request.token },
        input: formatScript(settings, request),
      });
      // `id` or `id;cluster`.
      const id = /^(\d+)/.exec(output.trim())?.[1];
      if (id === undefined)
        throw new Error(`sbatch printed no job id, but "${output.trim().slice(0, 100)}".`);
      return id;
    },
    // Versions before 23.02 ignore the filters and list every job.
    list: async (prefix) => parseSqueue(await run('squeue', ['--me', '--states=all', '--json']), prefix),
    async stop(id, { force }) {
      if (force) return cancel(id);
      // A job that waits has no process to signal; the filter makes it one step, whatever state the job was in.
      await cancel('--state=PENDING', id);
      await cancel('--signal=TERM', '--full', id);
    },
  };
}

/** Arguments of the operator come last, so that they replace those before them. */
function formatSbatchArguments({ args }: SlurmSettings, { name }: JobRequest): string[] {
  return [
    ...['--parsable', `--job-name=${name}`, `--export=${TOKEN_VARIABLE}`, '--no-requeue'],
    // The folder of the server may be missing on a node, and Slurm would write the output of the worker into it.
    ...['--chdir=/', '--output=/dev/null', `--signal=B:TERM@${DRAIN_SECONDS}`],
    ...args,
  ];
}

/** `exec`, so that SIGTERM reaches the worker. */
function formatScript({ workerCommand }: SlurmSettings, request: JobRequest): string {
  const words = formatWorkerArguments(request).map(quoteShell);
  return `#!/bin/sh\nexec ${workerCommand} ${words.join(' ')}\n`;
}
