/**
 * Interface of the runner. The runner runs one decision app once, under limits; it knows neither HTTP nor database.
 * Sizes are bytes, durations milliseconds, instants milliseconds since the epoch.
 */
import type { Readable } from 'node:stream';
import type { EndReason } from '@switchyard/contract/workers/end-reasons.ts';

/**
 * Level of isolation. A `sandbox` has its own user, mount, pid, ipc, uts and network namespaces on a read-only system. With
 * `limits` the app has its own process group and resource limits, and sees the same files as its user.
 */
export type Containment = 'sandbox' | 'limits';

/** Kind of program in an executable; it selects the runtime. */
export type ExecutableType = 'node' | 'python' | 'go' | 'java' | 'binary';

/** Runtimes that a host can lack. Go apps and binaries are compiled files and need none. */
export type RuntimeName = 'node' | 'python' | 'java';

/** `json` and `text` arrive on stdin; the other two are archives of files. */
type InputFormat = 'json' | 'text' | 'csv-archive' | 'multi-file';

/** Settings of startRunner. */
export interface RunnerSettings {
  /** Scratch folder, created when missing: `executables/` (unpacked, by content hash) and `runs/<key>/`. */
  folder: string;
  /** Required level; the strongest that the host supports when absent. startRunner throws when the host lacks it. */
  containment?: Containment;
  /** Time between SIGTERM and SIGKILL; 5000 when absent. */
  graceMs?: number;
  /** Memory of the host to keep free: below it the largest run is ended. 3 %, at least 64 MiB, when absent. */
  reservedMemoryBytes?: number;
  /** Size of the cache of unpacked executables, which evicts the least recently used; 20 GiB when absent. */
  cacheBytes?: number;
  /**
   * true: the launcher starts with the first run, not with the runner. Tests set it, because most of their servers execute
   * no run. A server starts the launcher early: an error then prevents the start, and its process is still small.
   */
  launchesOnDemand?: boolean;
  /** Source of randomness for the user ids of runs. */
  randomBytes(count: number): Buffer;
  onDiagnostic?(event: Diagnostic): void;
}

/** An event for the operator: a dead launcher, killed leftovers, a limit that the host cannot enforce. */
export interface Diagnostic {
  level: 'info' | 'warn' | 'error';
  /** A stable name such as `launcher-died` or `leftovers-killed`. */
  event: string;
  /** One or more sentences. */
  message: string;
  runKey?: string;
}

/** An interpreter or virtual machine of the host. */
export interface Runtime {
  path: string;
  version: string;
}

/** Capabilities of the host, as found at the start of the runner. */
export interface Host {
  platform: 'linux' | 'darwin';
  architecture: string;
  cores: number;
  memoryBytes: number;
  /** The level that applies to every run of this runner. */
  containment: Containment;
  /** Empty at level `sandbox`; else a sentence that says why the host offers no stronger level. */
  containmentReason: string;
  /** Mechanism that enforces each limit, for the operator: `memory` → "cgroup v2 memory.max" and so on. */
  enforcement: { memory: string; cores: string; processes: string; disk: string; tree: string };
  /** For the operator: one sentence for each thing that an app can do on this host despite its limits. */
  notHeld: string[];
  runtimes: Partial<Record<RuntimeName, Runtime>>;
  /** For each missing runtime, a sentence that says what is missing. */
  missingRuntimes: Partial<Record<RuntimeName, string>>;
}

/** Limits of one run, all positive. computeEffectiveLimits returns limits that fit the host. */
export interface Limits {
  cores: number;
  /** Memory of the whole process tree. */
  memoryBytes: number;
  /** Wall time from the start of the app. */
  durationMs: number;
  /** Largest stdout; the runner kills an app that exceeds it. */
  outputBytes: number;
  /** Largest stored stderr; beyond it the app continues and the log is truncated. */
  logBytes: number;
  /** Largest single file, and largest total size of the files that the app writes to its folders. */
  fileBytes: number;
  /** Number of files, folders and links that the app creates. */
  files: number;
  /** Processes and threads of the process tree. */
  processes: number;
  openFiles: number;
}

/** Paths of a multi-file app relative to its working folder; an absent path has the documented default. */
export interface ContentPaths {
  /** `inputs` */
  inputPath?: string;
  /** `outputs/solutions` */
  solutionsPath?: string;
  /** `outputs/statistics/statistics.json`, else `outputs/statistics.json` */
  statisticsPath?: string;
  /** `outputs/metrics/metrics.json`, else `outputs/metrics.json` */
  metricsPath?: string;
  /** `outputs/assets/assets.json`, else `outputs/assets.json` */
  assetsPath?: string;
}

/** One run: the executable, its input and its limits. */
export interface RunSpec {
  /** Unique per attempt, `[a-z0-9-]{1,128}`. */
  key: string;
  /** A gzip tar. `hash` is the SHA-256 from inspectArchive, in hex; the runner calls `open` on a cache miss only. */
  executable: { hash: string; open(): Promise<Readable> };
  type: ExecutableType;
  /** Relative to the root of the executable; absent: `main.py`, `main.js|mjs|ts`, `main.jar` or `main` by type. */
  entrypoint?: string;
  /** Relative to the root of the executable; absent: the root. */
  workingDirectory?: string;
  arguments: string[];
  /** Environment of the app, beside the variables of the runner (PATH, HOME, TMPDIR, LANG, PYTHON*). Never the server's. */
  environment: Record<string, string>;
  /** `location`: a path relative to the working directory, or (sandbox only) absolute below a folder of the app. */
  secretFiles: { location: string; value: string }[];
  /** For csv-archive and multi-file a gzip tar, with or without a wrapping `input/` or `inputs/` folder. */
  input: { format: InputFormat; open(): Promise<Readable> };
  /** Output of an earlier run, in its format. The variable SWITCHYARD_PREVIOUS names its file or folder; absent without one. */
  previous?: RunSpec['input'];
  /** Format of the results: `json` is stdout. An app that reads files may print its results, and one that reads stdin may write files. */
  outputFormat: InputFormat;
  content?: ContentPaths;
  limits: Limits;
  /** true: the app may use the host's network. At level `limits` it always can. */
  network: boolean;
  /**
   * A port of the loopback that a sandbox without network has, and the Unix socket of the host to which connections go.
   * Other apps ignore it: they use the network of the host.
   */
  forward?: LoopbackForward;
}

/** A port of the loopback of a sandbox, and the Unix socket of the host behind it. */
export interface LoopbackForward {
  port: number;
  /** Absolute; every user may connect to the socket. The sandbox sees its folder, which has no other file. */
  socketPath: string;
}

/** One line of the log of a run. */
export interface LogLine {
  /** Milliseconds since the epoch with a fraction; strictly increasing within a run. */
  at: number;
  stream: 'stdout' | 'stderr';
  /** Without the line end. A line of more than 64 KiB is truncated and ends in a remark. */
  text: string;
}

/** Use of resources by all processes of a run. */
export interface ResourceUsage {
  /** Milliseconds since the epoch. */
  at: number;
  /** Processor time since the last measurement by the time between them: 1.5 is one and a half busy cores. */
  cpuCores: number;
  memoryBytes: number;
  /** Disk space that the app holds. */
  writtenBytes: number;
}

/** Receives events of one run. */
export interface Observer {
  /** The main process of the app has started. Not called when the app cannot be started. */
  onStart(info: { pid: number; at: number }): void;
  /** Lines of stderr, for multi-file of stdout too. All lines arrive before `done` resolves. The next lines wait for the returned promise. */
  onLog(lines: LogLine[]): void | Promise<void>;
  /** About once a second while the app runs. */
  onUsage?(usage: ResourceUsage): void;
}

/** Handle of one run. */
export interface RunningApp {
  /** Sends SIGTERM to the app and, after the grace period, SIGKILL to the whole tree. No effect after the end. */
  cancel(): void;
  /** Never rejects. */
  readonly done: Promise<Outcome>;
  /** Removes the folder of the run with every file that the outcome names. Call it once the results are stored. */
  dispose(): Promise<void>;
}

/** A file in the folder of the run. */
export interface ResultFile {
  path: string;
  bytes: number;
}

/** Outcome of a run that the runner observed to its end. */
export interface EndedRun {
  kind: 'ended';
  /** True only for reason `exit` with code 0. */
  succeeded: boolean;
  reason: EndReason;
  /** Empty after success; else a sentence that names exit code, signal, or limit and value. */
  error: string;
  /** The host lacked space, memory, descriptors or processes, or its disk failed; the app is not the cause. */
  hostFault?: true;
  exitCode: number | null;
  signal: string | null;
  /** Files in the folder of the run until dispose; empty when the app never started. */
  stdout: ResultFile;
  stderr: ResultFile;
  /** csv-archive and multi-file: gzip tar of new or changed files, without a wrapping folder; absent without any. */
  solutions?: ResultFile;
  /** multi-file: the file that the app wrote; absent when it wrote none. */
  statistics?: ResultFile;
  metrics?: ResultFile;
  assets?: ResultFile;
  startedAt: number;
  endedAt: number;
  /** From the start of the app's process to its end; 0 when it never started. */
  executionMs: number;
  /** Largest memory that a sample measured; absent for runs shorter than the first sample. */
  peakMemoryBytes?: number;
  containment: Containment;
  /** stderr exceeded logBytes. */
  isLogTruncated: boolean;
}

/** Outcome when the launcher died during the run: the end of the app is unknown. Queue the run again. */
interface LostRun {
  kind: 'lost';
  error: string;
}

/** End of a run. */
export type Outcome = EndedRun | LostRun;

/** Runs apps on this host. */
export interface Runner {
  readonly host: Host;
  /** Returns whether the disk of the scratch folder has space for further runs. */
  hasDiskSpace(): boolean;
  /** Starts a run. Never throws; the outcome reports every error. */
  run(spec: RunSpec, observer: Observer): RunningApp;
  /**
   * Cancels all runs, waits for them and ends the launcher. Canceled runs resolve with reason `canceled`.
   *
   * @param graceMs longest wait before the remaining runs are killed; no limit when absent.
   */
  close(graceMs?: number): Promise<void>;
}
