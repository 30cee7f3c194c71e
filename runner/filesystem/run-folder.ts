/** Paths in the folder of a run. In a sandbox the app sees only `work` and `tmp` of it. */
import { join } from 'node:path';

/** Paths of one run. */
export interface RunFolder {
  root: string;
  work: string;
  /** The app's /tmp and /dev/shm: one folder for both saves time in every run. */
  tmp: string;
  /** The unpacked input archive before it moves into the working directory. */
  input: string;
  /** The output of an earlier run, which the app only reads. */
  previous: string;
  stdin: string;
  stdout: string;
  stderr: string;
  /** Start script for the shell of the process chain. */
  script: string;
  /** Empty until that shell starts the app. */
  started: string;
  results: string;
}

/**
 * Returns the paths of a run.
 *
 * @param appRoot folder of the writable folders: that of the run, or one on a disk of its own.
 */
export function resolveRunFolder(root: string, appRoot = root): RunFolder {
  return {
    root,
    work: join(appRoot, 'work'),
    tmp: join(appRoot, 'tmp'),
    input: join(appRoot, 'input'),
    previous: join(root, 'previous'),
    stdin: join(root, 'stdin'),
    stdout: join(root, 'stdout'),
    stderr: join(root, 'stderr'),
    script: join(root, 'start.sh'),
    started: join(root, 'started'),
    results: join(root, 'results'),
  };
}

/** Returns all folders that the app can write, so that the sum of their sizes is what the app has written. */
export function listWritableFolders({ work, tmp }: RunFolder): string[] {
  return [work, tmp];
}

/** Path of the app's folder inside a sandbox. */
export const SANDBOX_APP_PATH = '/app';

/** Placeholder for the path of the app's folder, which differs inside and outside a sandbox. */
export const APP_ROOT_PLACEHOLDER = '\u0000app';

/** Path of the output of an earlier run inside a sandbox. */
export const SANDBOX_PREVIOUS_PATH = '/previous';

/** Path of Node's compile cache inside a sandbox. */
export const SANDBOX_COMPILED_PATH = '/compiled';
