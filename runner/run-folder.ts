/** Where things lie in a run's folder. The app sees only `work`, `tmp` and `shm` of it. */
import { join } from 'node:path';

export interface RunFolder {
  root: string;
  work: string;
  tmp: string;
  shm: string;
  /** The input archive, unpacked, before it moves into the working directory. */
  input: string;
  stdin: string;
  stdout: string;
  stderr: string;
  /** Written by the launcher: the user of the run, then a line once the app's own process is about to start. */
  state: string;
  script: string;
  results: string;
}

export function runFolder(root: string): RunFolder {
  return {
    root,
    work: join(root, 'work'),
    tmp: join(root, 'tmp'),
    shm: join(root, 'shm'),
    input: join(root, 'input'),
    stdin: join(root, 'stdin'),
    stdout: join(root, 'stdout'),
    stderr: join(root, 'stderr'),
    state: join(root, 'state'),
    script: join(root, 'start.sh'),
    results: join(root, 'results'),
  };
}

/** Files of a run are spread over nothing else than these, so that their sum is what the app has written. */
export const WRITABLE = ['work', 'tmp', 'shm'] as const;

/** Path of the app's folder inside a sandbox. */
export const SANDBOX_APP = '/app';
