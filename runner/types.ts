/**
 * What the runner takes and gives. The runner runs one decision app once, under limits; it knows neither HTTP nor
 * database. Sizes are bytes, durations milliseconds, instants milliseconds since the epoch.
 */
import type { Readable } from 'node:stream';

/**
 * How far an app is held. `sandbox`: own user, mount, pid, ipc, uts and network namespaces on a read-only system.
 * `limits`: own process group and resource limits; the app sees the same files as its user does.
 */
export type Containment = 'sandbox' | 'limits';

export type ExecutableType = 'node' | 'python' | 'go' | 'java' | 'binary';

/** Runtimes the host can lack. Go apps and binaries are compiled files and need none. */
export type RuntimeName = 'node' | 'python' | 'java';

type InputFormat = 'json' | 'text' | 'csv-archive' | 'multi-file';

export interface RunnerSettings {
  /** Scratch root, created when missing: `executables/` (unpacked, by content hash) and `runs/<key>/`. */
  folder: string;
  /** Required level. Absent: the strongest the host offers. `sandbox` on a host without it makes startRunner throw. */
  containment?: Containment;
  /** From SIGTERM to SIGKILL; 5000 when absent. */
  graceMs?: number;
  /** Memory of the host that must stay free, or the run that holds most is ended; 3 % of it, at least 64 MiB, when absent. */
  reservedMemoryBytes?: number;
  /** Unpacked executables are dropped, least recently used first, beyond this many bytes; 20 GiB when absent. */
  cacheBytes?: number;
  onDiagnostic?(event: Diagnostic): void;
}

/** Something an operator should see: a launcher that died, leftovers that were killed, a limit the host cannot hold. */
export interface Diagnostic {
  level: 'info' | 'warn' | 'error';
  /** A stable name such as `launcher-died` or `leftovers-killed`. */
  event: string;
  /** A sentence. */
  message: string;
  runKey?: string;
}

export interface Runtime {
  path: string;
  version: string;
}

export interface Host {
  platform: 'linux' | 'darwin';
  architecture: string;
  cores: number;
  memoryBytes: number;
  /** The level in force for every run of this runner. */
  containment: Containment;
  /** Empty at level `sandbox`, else a sentence saying why the host gives no more. */
  containmentReason: string;
  /** How each limit is held on this host, for the operator: `memory` → "cgroup v2 memory.max" and so on. */
  enforcement: { memory: string; cores: string; processes: string; disk: string; tree: string };
  /** For the operator: a sentence for each thing that an app can do on this host although a limit says otherwise. */
  notHeld: string[];
  runtimes: Partial<Record<RuntimeName, Runtime>>;
  /** For each runtime that is not there, a sentence saying what is missing. */
  missingRuntimes: Partial<Record<RuntimeName, string>>;
}

/** All positive. Make them with effectiveLimits so that they fit the host. */
export interface Limits {
  cores: number;
  /** Memory of the whole process tree. */
  memoryBytes: number;
  /** Wall time from the start of the app. */
  durationMs: number;
  /** Largest stdout; beyond it the app is killed. */
  outputBytes: number;
  /** Largest stderr kept; beyond it the app goes on and the log is cut. */
  logBytes: number;
  /** Largest single file, and largest sum of what the app has written to its folders. */
  fileBytes: number;
  /** Files, folders and links that the app has made. */
  files: number;
  /** Processes and threads of the tree. */
  processes: number;
  openFiles: number;
}

/** Paths of a multi-file app relative to its working folder; what is absent has the documented default. */
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

export interface RunSpec {
  /** Unique per attempt, `[a-z0-9-]{1,128}`. */
  key: string;
  /** A gzip tar. `hash` is the SHA-256 of its bytes in hex, as inspectArchive gave it; open is called on a cache miss only. */
  executable: { hash: string; open(): Promise<Readable> };
  type: ExecutableType;
  /** Relative to the root of the executable; absent: `main.py`, `main.js|mjs|ts`, `main.jar` or `main` by type. */
  entrypoint?: string;
  /** Relative to the root of the executable; absent: the root. */
  workingDirectory?: string;
  arguments: string[];
  /** The app's whole environment but for what the runner sets (PATH, HOME, TMPDIR, LANG, PYTHON*). Never the server's. */
  environment: Record<string, string>;
  /** `location` is a path: relative to the working directory, or absolute (sandbox only, under a folder the app owns). */
  secretFiles: { location: string; value: string }[];
  /** For csv-archive and multi-file a gzip tar, with or without a wrapping `input/` or `inputs/` folder. */
  input: { format: InputFormat; open(): Promise<Readable> };
  /** Where the results are looked for: `json` is stdout; what reads files may print its results, and the other way about. */
  outputFormat: InputFormat;
  content?: ContentPaths;
  limits: Limits;
  /** Whether the app may use the host's network. Always true in effect at level `limits`. */
  network: boolean;
}

export interface LogLine {
  /** Milliseconds since the epoch with a fraction; strictly increasing within a run. */
  at: number;
  stream: 'stdout' | 'stderr';
  /** Without the line end. Longer than 64 KiB: cut, ending in a remark that says so. */
  text: string;
}

export interface Observer {
  /** The app's main process is there. Not called when the app could not be started. */
  onStart(info: { pid: number; at: number }): void;
  /** stderr, for multi-file stdout as well. All lines come before `done` resolves. */
  onLog(lines: LogLine[]): void;
}

export interface RunningApp {
  /** SIGTERM to the app, the grace, then SIGKILL to the whole tree. Does nothing after the end; may be called twice. */
  cancel(): void;
  /** Never rejects. */
  readonly done: Promise<Outcome>;
  /** Removes the run's folder with everything the outcome's paths name. Call it once the results are kept. */
  dispose(): Promise<void>;
}

export interface ResultFile {
  path: string;
  bytes: number;
}

export type EndReason =
  | 'exit'
  | 'signal'
  | 'duration'
  | 'memory'
  | 'output'
  | 'disk'
  | 'processes'
  | 'canceled'
  /** The host lacks the runtime. */
  | 'runtime-missing'
  /** No entry point, wrong architecture, a working directory that is not there, a bad secret location. */
  | 'not-startable'
  | 'bad-input-archive'
  | 'bad-executable'
  /** The host failed us: disk full, permission. The app is not to blame; trying again may help. */
  | 'host';

export interface EndedRun {
  kind: 'ended';
  /** True only for reason `exit` with code 0. */
  succeeded: boolean;
  reason: EndReason;
  /** Empty after success, else a sentence naming exit code, signal, or limit and value. */
  error: string;
  /** The host lacked space, memory, descriptors or processes, or its disk failed; the end says nothing about the app. */
  hostFault?: true;
  exitCode: number | null;
  signal: string | null;
  /** Files in the run's folder, there until dispose; empty files when the app never started. */
  stdout: ResultFile;
  stderr: ResultFile;
  /** csv-archive and multi-file: gzip tar of the new or changed files, without a wrapping folder; absent when there are none. */
  solutions?: ResultFile;
  /** multi-file: the file the app wrote, absent when it wrote none. */
  statistics?: ResultFile;
  metrics?: ResultFile;
  assets?: ResultFile;
  startedAt: number;
  endedAt: number;
  /** From start of the app's process to its end; 0 when it never started. */
  executionMs: number;
  /** Most memory that a sample found the run to hold; absent for runs shorter than the first sample. */
  peakMemoryBytes?: number;
  containment: Containment;
  /** stderr went beyond logBytes. */
  isLogTruncated: boolean;
}

/** The launcher died under the app: nothing can be said about the app. Queue the run again. */
interface LostRun {
  kind: 'lost';
  error: string;
}

export type Outcome = EndedRun | LostRun;

export interface Runner {
  readonly host: Host;
  /** Whether there is room for runs on the disk of the folder. */
  hasDiskSpace(): boolean;
  /** Never throws; whatever goes wrong is in the outcome. */
  run(job: RunSpec, observer: Observer): RunningApp;
  /** Cancels what runs, waits for it, ends the launcher. Runs cut short resolve with reason `canceled`. */
  close(graceMs?: number): Promise<void>;
}
