/** Where things lie in a run's folder. In a sandbox the app sees only `work` and `tmp` of it. */
import { join } from 'node:path';

export interface RunFolder {
  root: string;
  work: string;
  /** The app's /tmp, and its /dev/shm: one folder less to make for every run. */
  tmp: string;
  /** The input archive, unpacked, before it moves into the working directory. */
  input: string;
  stdin: string;
  stdout: string;
  stderr: string;
  /** What the shell of the chain reads. */
  script: string;
  /** Empty until that shell is about to start the app. */
  started: string;
  results: string;
}

/** @param app where the folders that the app may write lie: in the run's folder, or on a disk of its own. */
export function resolveRunFolder(root: string, app = root): RunFolder {
  return {
    root,
    work: join(app, 'work'),
    tmp: join(app, 'tmp'),
    input: join(app, 'input'),
    stdin: join(root, 'stdin'),
    stdout: join(root, 'stdout'),
    stderr: join(root, 'stderr'),
    script: join(root, 'start.sh'),
    started: join(root, 'started'),
    results: join(root, 'results'),
  };
}

/** Files of a run are spread over nothing else than these, so that their sum is what the app has written. */
export function listWritableFolders({ work, tmp }: RunFolder): string[] {
  return [work, tmp];
}

/** Path of the app's folder inside a sandbox. */
export const SANDBOX_APP_PATH = '/app';

/** Placeholder for the path of the app's folder, which differs inside and outside a sandbox. */
export const APP_ROOT_PLACEHOLDER = '\u0000app';

/** Path inside a sandbox of what Node compiled of the app. */
export const SANDBOX_COMPILED_PATH = '/compiled';
