/** Containment of apps on this host, and the plan by which the launcher starts one run; both are sent to the launcher as JSON. */

import type { CompiledPlan } from '../archive/executable-cache.ts';
import type { DiskTools } from '../filesystem/run-disks.ts';
import type { Containment, Limits } from '../types.ts';
import type { CgroupParents } from './run-cgroups.ts';

/** How apps are held on this host; found out once by probing and handed to the launcher when it starts. */
export interface Confinement {
  level: Containment;
  /**
   * `bwrap`: namespaces by bubblewrap. `pidns`: a pid namespace by unshare, for the sake of a sure kill.
   * `plain`: neither; the tree is found by descent, process group, session and environment marker.
   */
  means: 'bwrap' | 'pidns' | 'plain';
  /** Set when we are root: every app gets a user of its own, drawn from this range of user ids. */
  users?: { first: number; count: number };
  /** Whether RLIMIT_NPROC counts the processes of one run only: a user, or a user namespace, of its own. */
  processLimitIsOwn: boolean;
  /** The shell's letter for the process limit: dash says p, others u. Empty when the shell has none. */
  processLimitLetter: '' | 'p' | 'u';
  tools: { sh: string; bwrap?: string; setpriv?: string; unshare?: string; taskset?: string };
  /** Extra flags bubblewrap understood when probed. */
  bwrapFlags: string[];
  /** The filter of system calls that bubblewrap loads; absent for an architecture without one. */
  filterFile?: string;
  /** Bubblewrap's arguments that show the system's programs and libraries, read-only. */
  systemMounts: string[];
  /** The same for runtimes outside /usr, which may lie below a folder that the sandbox has its own of, such as /tmp. */
  runtimeMounts: string[];
  /** Arguments of bubblewrap: a small /etc made for sandboxes. */
  etcMounts: string[];
  /** Where runs get cgroups of their own; absent where none can be made. */
  cgroup?: CgroupParents;
  /** Each run gets a file system of its own; absent where none can be mounted. */
  disks?: DiskTools;
  hostCores: number;
  /** Memory of the host that must stay free, when it is not the usual share. */
  keepFreeBytes?: number;
  /** Every process of a run carries SWITCHYARD_RUN=<marker>/<key> in its environment. */
  marker: string;
}

/** Everything the launcher needs for one run; the run's folder exists, with `stdin` or `input/` already in it. */
export interface LaunchPlan {
  key: string;
  folder: string;
  /** Folder of the unpacked executable, with `index.json` and `root/`. */
  executableFolder: string;
  /** Relative to the root of the executable; '' for the root. */
  workingDirectory: string;
  /** Where the unpacked input archive goes, relative to the working directory; absent for json and text. */
  inputPath?: string;
  /** Made before the start, relative to the working directory. */
  folders: string[];
  secretFiles: { location: string; value: string }[];
  /** The file, relative to the root of the executable, that is executed itself; it is made executable. */
  program?: string;
  /** Parts that start with APP_ROOT_PLACEHOLDER name a file of the app. */
  command: string[];
  environment: Record<string, string>;
  limits: Limits;
  network: boolean;
  /** stdout is a log (multi-file) and is not held against outputBytes. */
  stdoutIsLog: boolean;
  graceMs: number;
  /** What of the executable is compiled; absent when nothing is. */
  compiled?: CompiledPlan;
}
