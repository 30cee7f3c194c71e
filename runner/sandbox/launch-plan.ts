/** Containment of apps on this host and the plan of one run; the launcher receives both as JSON. */
import type { CompiledPlan } from '../archive/executable-index.ts';
import type { DiskTools } from '../filesystem/run-disks.ts';
import type { Containment, Limits, LoopbackForward } from '../types.ts';
import type { CgroupParents } from './run-cgroups.ts';

/** Containment that probing found on this host. The launcher receives it when it starts. */
export interface Confinement {
  level: Containment;
  /**
   * `bwrap`: namespaces by bubblewrap. `pidns`: a pid namespace by unshare, which makes the kill reliable.
   * `plain`: neither; the tree is found by descent, process group, session and environment marker.
   */
  means: 'bwrap' | 'pidns' | 'plain';
  /** Set when the launcher runs as root: every app gets a user of its own, drawn from this range of user ids. */
  users?: { first: number; count: number };
  /** true: RLIMIT_NPROC counts only the processes of the run, which has a user or a user namespace of its own. */
  processLimitIsOwn: boolean;
  /** The shell's option letter for the process limit: p in dash, u elsewhere. Empty when the shell has none. */
  processLimitLetter: '' | 'p' | 'u';
  tools: { sh: string; bwrap?: string; setpriv?: string; unshare?: string; taskset?: string };
  /** Optional flags that the installed bubblewrap accepts. */
  bwrapFlags: string[];
  /** Seccomp filter for bubblewrap; absent for an architecture without one. */
  filterFile?: string;
  /** Arguments of bubblewrap that mount the system's programs and libraries read-only. */
  systemMounts: string[];
  /** The same for runtimes outside /usr, such as one in a folder that the sandbox replaces (/tmp). */
  runtimeMounts: string[];
  /** Arguments of bubblewrap that mount the reduced /etc. */
  etcMounts: string[];
  /** Groups in which runs get their cgroups; absent where the host allows none. */
  cgroup?: CgroupParents;
  /** Programs that make a file system for each run; absent where none can be mounted. */
  disks?: DiskTools;
  hostCores: number;
  /** Memory of the host to keep free; the default share when absent. */
  reservedMemoryBytes?: number;
  /** Every process of a run has SWITCHYARD_RUN=<marker>/<key> in its environment. */
  marker: string;
}

/** Plan of one run for the launcher. The folder of the run exists and contains `stdin` or `input/`. */
export interface LaunchPlan {
  key: string;
  folder: string;
  /** Folder of the unpacked executable, with `index.json` and `root/`. */
  executableFolder: string;
  /** Relative to the root of the executable; '' for the root. */
  workingDirectory: string;
  /** Destination of the unpacked input archive, relative to the working directory; absent for json and text. */
  inputPath?: string;
  /** File with the output of an earlier run in the folder for it, or '' for the folder; absent without such a run. */
  previousFile?: string;
  /** Folders to create before the start, relative to the working directory. */
  folders: string[];
  secretFiles: { location: string; value: string }[];
  /** The executed file, relative to the root of the executable; the launcher sets its executable bit. */
  program?: string;
  /** Words that start with APP_ROOT_PLACEHOLDER name a file of the app. */
  command: string[];
  environment: Record<string, string>;
  limits: Limits;
  network: boolean;
  forward?: LoopbackForward;
  /** stdout is a log (multi-file), so outputBytes does not apply to it. */
  stdoutIsLog: boolean;
  graceMs: number;
  /** Compiled parts of the executable; absent when there are none. */
  compiled?: CompiledPlan;
}
