/** Reads the arguments of `npm run worker` and the environment. A wrong one ends the start with a message that names it. */
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findInvalidLabel, LABEL_RULE } from '@switchyard/contract/applications/requirements.ts';
import {
  type Allocation,
  BINARY_UNITS,
  readAllocation,
  readGroupLimits,
  readMachine,
} from '@switchyard/runner';

/** A setting is missing or wrong. */
export class SettingError extends Error {}

/** The settings of a worker process. */
export interface WorkerSettings {
  server: string;
  token: string;
  /** Absolute path of the folder for executables and runs; null for a temporary one. */
  data: string | null;
  slots: number;
  /** Null counts slots alone. */
  resources: { cores: number; memoryBytes: number } | null;
  /** The cores and memory of the job, the container or the machine. */
  allocation: Allocation;
  labels: string[];
  /** The worker ends after this time without a run; null: never. */
  idleMs: number | null;
  jobId: string | null;
  containment: 'sandbox' | 'limits' | null;
}

type Environment = Record<string, string | undefined>;

const OPTIONS = {
  server: { type: 'string' },
  token: { type: 'string' },
  data: { type: 'string' },
  slots: { type: 'string' },
  cores: { type: 'string' },
  memory: { type: 'string' },
  label: { type: 'string', multiple: true },
  idle: { type: 'string' },
  job: { type: 'string' },
  containment: { type: 'string' },
  help: { type: 'boolean' },
} as const;

/** The text of `--help`. */
export const HELP = `Executes runs of a Switchyard server on this machine.

  npm run worker -- --server https://switchyard.example.com --token worker.…

  --server URL        Address of the server. SWITCHYARD_URL is the default.
  --token TEXT        Worker token. Better in SWITCHYARD_WORKER_TOKEN, where no list of processes shows it.
  --slots N           Runs at once; one for each core of the job, the container or the machine by default.
  --cores N           With --memory: each run reserves the cores and memory of its execution class,
  --memory SIZE       and all runs together at most these, such as 16 and 64G. Without, slots alone count.
  --label NAME        A label of this worker, such as gpu or region=eu; repeat it for several.
  --idle SECONDS      End after this time without a run.
  --job ID            The job of a cluster that started this worker.
  --data FOLDER       Keep unpacked executables here for the next start; a temporary folder by default.
  --containment LEVEL sandbox or limits; the strongest level of this machine by default.
`;

/** Returns the settings; null when the help is wanted. Throws SettingError. */
export function readWorkerSettings(args: readonly string[], env: Environment): WorkerSettings | null {
  const values = parse(args);
  if (values.help) return null;
  const cores = readOptional(values.cores, '--cores', { min: 1, max: 100_000 });
  const allocation = readAllocation(env, readGroupLimits(), readMachine(tmpdir()));
  const memoryBytes = readMemory(values.memory, allocation);
  if ((cores === null) !== (memoryBytes === null))
    throw new SettingError(
      `${cores === null ? '--memory' : '--cores'} is given without ${cores === null ? '--cores' : '--memory'}; a worker reserves both or none. Give both.`,
    );
  const idle = readOptional(values.idle, '--idle', { min: 1, max: 10_000_000 });
  return {
    server: readServer(values.server ?? env.SWITCHYARD_URL),
    token: readToken(values.token ?? env.SWITCHYARD_WORKER_TOKEN),
    data: values.data === undefined ? null : resolve(values.data),
    slots:
      readOptional(values.slots, '--slots', { min: 1, max: 10_000 }) ??
      Math.max(1, Math.floor(cores ?? allocation.cores)),
    resources: cores === null || memoryBytes === null ? null : { cores, memoryBytes },
    allocation,
    labels: readLabels(values.label ?? []),
    idleMs: idle === null ? null : idle * 1000,
    jobId: values.job ?? null,
    containment: readContainment(values.containment),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new SettingError(
      `${error instanceof Error ? error.message.split('.')[0] : String(error)}. Start it with --help for the options.`,
    );
  }
}

function readServer(value: string | undefined): string {
  if (!value)
    throw new SettingError('--server is missing; give the address of the server, such as https://host:8080.');
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash)
    throw new SettingError(
      `--server is "${value}"; it must be the http:// or https:// address of the server, such as https://host:8080.`,
    );
  return value.replace(/\/+$/, '');
}

function readToken(value: string | undefined): string {
  if (!value)
    throw new SettingError(
      'The worker token is missing; set SWITCHYARD_WORKER_TOKEN, or give --token. Create one on the page Workers of the console.',
    );
  if (!value.startsWith('worker.'))
    throw new SettingError(
      'The token is not a worker token, which begins with "worker.". Create one on the page Workers of the console.',
    );
  return value;
}

function readOptional(
  text: string | undefined,
  name: string,
  { min, max }: { min: number; max: number },
): number | null {
  if (text === undefined) return null;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < min || value > max)
    throw new SettingError(`${name} is "${text}"; it must be a whole number from ${min} to ${max}.`);
  return value;
}

function readMemory(text: string | undefined, { memoryBytes }: Allocation): number | null {
  if (text === undefined) return null;
  const match = /^(\d{1,12})([KMGT]?)(?:i?B)?$/.exec(text);
  const bytes = Number(match?.[1]) * (BINARY_UNITS[match?.[2] ?? ''] ?? 1);
  if (!match || bytes < 2 ** 20 || bytes > memoryBytes)
    throw new SettingError(
      `--memory is "${text}"; it must be a size from 1M to the ${Math.floor(memoryBytes / 2 ** 20)}M that this process may use, such as 16G.`,
    );
  return bytes;
}

function readLabels(labels: readonly string[]): string[] {
  const invalid = findInvalidLabel(labels);
  if (invalid !== undefined) throw new SettingError(`--label is "${invalid}"; ${LABEL_RULE}`);
  return [...new Set(labels)].sort();
}

function readContainment(value: string | undefined): WorkerSettings['containment'] {
  if (value === undefined || value === 'sandbox' || value === 'limits') return value ?? null;
  throw new SettingError(`--containment is "${value}"; it must be sandbox or limits.`);
}
