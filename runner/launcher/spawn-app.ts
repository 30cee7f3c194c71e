/** Starts the process chain of an app, and measures what the app finds in its folders. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fchownSync } from 'node:fs';
import type { ExecutableIndex } from '../archive/executable-index.ts';
import { type FolderUsage, measureFolders } from '../filesystem/folder-usage.ts';
import { listWritableFolders, type RunFolder } from '../filesystem/run-folder.ts';
import { spawnWithAppOomScore } from '../process/oom-score.ts';
import { RUN_MARKER_VARIABLE } from '../process/processes.ts';
import { buildCommandChain, type ChainInput, openStdio } from '../sandbox/command-chain.ts';
import type { LaunchPlan } from '../sandbox/launch-plan.ts';

/** stdin, stdout, stderr and the start script. */
const STANDARD_FILE_COUNT = 4;
/** Smallest disk space of a file. */
export const FILE_BLOCK_BYTES = 4096;

/** Returns the size of the executable and the input in the app's folders. */
export function measureInitialUsage(
  plan: LaunchPlan,
  folder: RunFolder,
  index: ExecutableIndex,
): FolderUsage {
  // The size of an input archive is unknown until it is unpacked; executables have been measured.
  return plan.inputPath === undefined
    ? {
        bytes: index.unpackedBytes + index.entries.length * FILE_BLOCK_BYTES,
        entries: index.entries.length,
      }
    : measureFolders(listWritableFolders(folder), { bytes: Infinity, entries: Infinity });
}

/** Starts the process chain with its files as stdio; the start script exists. */
export function spawnChain(input: ChainInput): ChildProcess {
  const { plan, user } = input;
  const { means, marker } = input.confinement;
  // A sandbox reaches these files only through their open descriptors; elsewhere other users may see their paths.
  const mode = means === 'bwrap' ? 0o666 : 0o600;
  const chain = buildCommandChain(input);
  const stdio = openStdio(input, mode);
  try {
    // An app may reopen /dev/stdin and similar paths, which requires that it owns the files or that anyone may open them.
    if (user !== undefined && means !== 'bwrap')
      for (const descriptor of stdio.slice(0, STANDARD_FILE_COUNT)) fchownSync(descriptor, user, user);
    return spawnWithAppOomScore(() =>
      spawn(chain.command, chain.arguments, {
        cwd: chain.cwd,
        stdio,
        detached: true,
        env: {
          PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
          [RUN_MARKER_VARIABLE]: `${marker}/${plan.key}`,
        },
      }),
    );
  } finally {
    for (const descriptor of stdio) closeSync(descriptor);
  }
}
