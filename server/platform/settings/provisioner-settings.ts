/** The settings of the provisioner: the `SWITCHYARD_PROVISIONER` variables and those of its adapters, which server/platform/config.ts passes. */
import { join, resolve } from 'node:path';
import { PROVISIONER_ADAPTERS, type Provisioner } from '@switchyard/contract/workers/provisioner.ts';
import { BINARY_UNITS, quoteShell } from '@switchyard/runner';
import { ConfigError } from '../config-error.ts';
import { readLabels } from './label-settings.ts';
import { type Environment, readChoice, readInteger, readRequired } from './read-setting.ts';

/** The provisioner starts and stops workers on a cluster, through one adapter. */
export interface ProvisionerSettings {
  /** The most workers at once, those included that wait in the queue of the cluster. */
  max: number;
  /** A worker without a run for this time ends by itself. */
  idleMs: number;
  /** The address at which workers reach the server, without a trailing slash; null for the public one. */
  server: string | null;
  /** Labels of every worker that it starts. */
  labels: readonly string[];
  /** The environment of the programs that reach the cluster: the one of the server without its own settings, the master key among them. */
  env: Environment;
  adapter: CommandSettings | SlurmSettings | KubernetesSettings;
}

/** The cores and memory of one worker; null for memory that is not limited. */
export interface WorkerSize {
  cores: number;
  memoryBytes: number | null;
}

/** Three shell commands of the operator. */
export interface CommandSettings {
  kind: 'command';
  start: string;
  list: string;
  stop: string;
  size: WorkerSize;
}

/** Jobs of a Slurm cluster. */
export interface SlurmSettings {
  kind: 'slurm';
  /** Further arguments of `sbatch`. */
  args: readonly string[];
  /** The shell command that starts a worker on a node. */
  workerCommand: string;
  size: WorkerSize;
}

/** Jobs of a Kubernetes cluster. */
export interface KubernetesSettings {
  kind: 'kubernetes';
  namespace: string;
  /** The image of the worker's container; null for the one of the manifest. */
  image: string | null;
  /** Absolute path of a file with a Job that the provisioner completes; null for a Job that the provisioner writes. */
  manifestPath: string | null;
  /** The local queue of Kueue; null without one. */
  queue: string | null;
  size: WorkerSize;
}

export const PROVISIONER_VARIABLES = [
  'SWITCHYARD_PROVISIONER',
  'SWITCHYARD_PROVISIONER_MAX',
  'SWITCHYARD_PROVISIONER_IDLE',
  'SWITCHYARD_PROVISIONER_SERVER',
  'SWITCHYARD_PROVISIONER_LABELS',
  'SWITCHYARD_PROVISIONER_SIZE',
  'SWITCHYARD_COMMAND_START',
  'SWITCHYARD_COMMAND_LIST',
  'SWITCHYARD_COMMAND_STOP',
  'SWITCHYARD_SLURM_ARGS',
  'SWITCHYARD_SLURM_WORKER',
  'SWITCHYARD_KUBERNETES_NAMESPACE',
  'SWITCHYARD_KUBERNETES_IMAGE',
  'SWITCHYARD_KUBERNETES_MANIFEST',
  'SWITCHYARD_KUBERNETES_QUEUE',
] as const;

/** The prefix of the variables that belong to one adapter. */
const ADAPTER_PREFIXES = {
  command: 'SWITCHYARD_COMMAND_',
  slurm: 'SWITCHYARD_SLURM_',
  kubernetes: 'SWITCHYARD_KUBERNETES_',
} as const;

const DEFAULT_MAX = 10;
const DEFAULT_IDLE_SECONDS = 300;
const WORKERS_MAX = 10_000;
const IDLE_SECONDS_MAX = 24 * 60 * 60;

/** Returns the settings, or null without a provisioner. Throws a ConfigError for a wrong, missing or unused one. */
export function readProvisionerSettings(env: Environment): ProvisionerSettings | null {
  const kind = readChoice(env, 'SWITCHYARD_PROVISIONER', PROVISIONER_ADAPTERS, 'none');
  refuseUnused(env, kind);
  if (kind === 'none') return null;
  return {
    max: readInteger(env, 'SWITCHYARD_PROVISIONER_MAX', { fallback: DEFAULT_MAX, min: 1, max: WORKERS_MAX }),
    idleMs:
      1000 *
      readInteger(env, 'SWITCHYARD_PROVISIONER_IDLE', {
        fallback: DEFAULT_IDLE_SECONDS,
        min: 1,
        max: IDLE_SECONDS_MAX,
      }),
    server: readServer(env),
    labels: readLabels(env, 'SWITCHYARD_PROVISIONER_LABELS'),
    env: Object.fromEntries(Object.entries(env).filter(([variable]) => !variable.startsWith('SWITCHYARD_'))),
    adapter: ADAPTER_READERS[kind](env),
  };
}

const ADAPTER_READERS = {
  command: (env: Environment): CommandSettings => ({
    kind: 'command',
    start: readCommand(env, 'SWITCHYARD_COMMAND_START', 'the command that starts a worker'),
    list: readCommand(env, 'SWITCHYARD_COMMAND_LIST', 'the command that lists the workers'),
    stop: readCommand(env, 'SWITCHYARD_COMMAND_STOP', 'the command that stops a worker'),
    size: readSize(env) ?? { cores: 1, memoryBytes: null },
  }),
  slurm: (env: Environment): SlurmSettings => {
    const args = readSlurmArgs(env);
    return {
      kind: 'slurm',
      args,
      workerCommand: env.SWITCHYARD_SLURM_WORKER || defaultWorkerCommand(),
      size: readSize(env) ?? readSlurmSize(args),
    };
  },
  kubernetes: (env: Environment): KubernetesSettings => {
    const manifest = env.SWITCHYARD_KUBERNETES_MANIFEST || null;
    const image = env.SWITCHYARD_KUBERNETES_IMAGE || null;
    if (manifest === null && image === null)
      throw new ConfigError(
        'SWITCHYARD_KUBERNETES_IMAGE is missing, and SWITCHYARD_PROVISIONER "kubernetes" needs it: the image of the worker. Set it, or SWITCHYARD_KUBERNETES_MANIFEST to a file with a Job that names one.',
      );
    return {
      kind: 'kubernetes',
      namespace: readKubernetesName(env, 'SWITCHYARD_KUBERNETES_NAMESPACE') ?? 'default',
      image,
      manifestPath: manifest && resolve(manifest),
      queue: readKubernetesName(env, 'SWITCHYARD_KUBERNETES_QUEUE'),
      size: readSize(env) ?? { cores: 1, memoryBytes: null },
    };
  },
};

/** A setting without effect is a mistake that nobody would notice. */
function refuseUnused(env: Environment, kind: Provisioner['adapter']): void {
  for (const name of PROVISIONER_VARIABLES) {
    if (!env[name] || name === 'SWITCHYARD_PROVISIONER') continue;
    if (kind === 'none')
      throw new ConfigError(
        `${name} is set without SWITCHYARD_PROVISIONER, so it has no effect. Set SWITCHYARD_PROVISIONER to command, slurm or kubernetes, or leave it out.`,
      );
    const isOfOther = Object.entries(ADAPTER_PREFIXES).some(
      ([adapter, prefix]) => adapter !== kind && name.startsWith(prefix),
    );
    if (isOfOther)
      throw new ConfigError(
        `${name} is set, but SWITCHYARD_PROVISIONER is "${kind}", which does not read it. Leave it out, or choose its adapter.`,
      );
  }
}

function readCommand(env: Environment, name: string, meaning: string): string {
  return readRequired(env, name, { neededBy: 'SWITCHYARD_PROVISIONER "command"', meaning });
}

function readServer(env: Environment): string | null {
  const value = env.SWITCHYARD_PROVISIONER_SERVER;
  if (!value) return null;
  if (!/^https?:\/\/[^?#]+$/.test(value) || !URL.canParse(value))
    throw new ConfigError(
      `SWITCHYARD_PROVISIONER_SERVER is "${value}"; it must be the http:// or https:// address at which workers reach the server, without "?" and "#".`,
    );
  return value.replace(/\/+$/, '');
}

/** Parses an amount such as `16G`; `unit` is the one of a number without unit. Returns null for any other text. */
function parseMemory(text: string, unit: string): number | null {
  const match = /^(\d{1,9})([KMGT]?)B?$/i.exec(text);
  const factor = match && BINARY_UNITS[(match[2] || unit).toUpperCase()];
  return factor ? Number(match[1]) * factor : null;
}

/** Parses `cores=4,memory=16G`. */
function readSize(env: Environment): WorkerSize | null {
  const text = env.SWITCHYARD_PROVISIONER_SIZE;
  if (!text) return null;
  const match = /^cores=(\d{1,4})(?:,\s*memory=(\w+))?$/.exec(text.trim());
  const cores = Number(match?.[1]);
  const memoryBytes = match?.[2] === undefined ? null : parseMemory(match[2], '');
  if (!match || cores < 1 || (match[2] !== undefined && !memoryBytes))
    throw new ConfigError(
      `SWITCHYARD_PROVISIONER_SIZE is "${text}"; it must be the cores and memory of one worker, such as cores=4,memory=16G.`,
    );
  return { cores, memoryBytes };
}

/** Arguments of `sbatch` that the provisioner sets itself, in both spellings. */
const OWN_SLURM_ARGS: ReadonlySet<string> = new Set([
  ...['--parsable', '--export', '--export-file', '--wrap', '--wait', '-W', '--array', '-a'],
  ...['--job-name', '-J', '--test-only', '--requeue'],
]);

function readSlurmArgs(env: Environment): string[] {
  const text = env.SWITCHYARD_SLURM_ARGS || '';
  const args = splitWords(text);
  if (args === null)
    throw new ConfigError(
      `SWITCHYARD_SLURM_ARGS is "${text}", where a quotation mark has no end. Close it, or leave it out.`,
    );
  for (const arg of args) {
    const name = arg.split('=')[0] ?? '';
    if (OWN_SLURM_ARGS.has(name))
      throw new ConfigError(
        `SWITCHYARD_SLURM_ARGS has "${arg}", which the provisioner sets itself. Leave it out.`,
      );
  }
  if (args[0] !== undefined && !args[0].startsWith('-'))
    throw new ConfigError(
      `SWITCHYARD_SLURM_ARGS is "${text}"; it must be arguments of sbatch, such as --partition=main --time=4:00:00 --cpus-per-task=4 --mem=16G.`,
    );
  return args;
}

/** Splits a text into words at white space, and keeps white space within quotation marks; null when one has no end. */
function splitWords(text: string): string[] | null {
  const words: string[] = [];
  for (const match of text.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*"|['"])+/g)) {
    const unquoted = match[0].replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2');
    if ((match[0].replaceAll(/'[^']*'|"[^"]*"/g, '').match(/['"]/g) ?? []).length > 0) return null;
    words.push(unquoted);
  }
  return words;
}

/** Reads cores and memory of a job from the arguments of `sbatch`; a job without them has one core. */
function readSlurmSize(args: readonly string[]): WorkerSize {
  const cores = Number(findSlurmArg(args, '--cpus-per-task', '-c') ?? 1);
  const memory = findSlurmArg(args, '--mem');
  const memoryPerCore = findSlurmArg(args, '--mem-per-cpu');
  if (!Number.isInteger(cores) || cores < 1)
    throw new ConfigError(
      'SWITCHYARD_SLURM_ARGS has --cpus-per-task without a whole number of cores. Write --cpus-per-task=4, for example.',
    );
  const amount = memory ?? memoryPerCore;
  // Slurm counts in megabytes, and `--mem=0` is all memory of the node.
  const bytes = amount === null ? null : parseMemory(amount, 'M');
  if (amount !== null && bytes === null)
    throw new ConfigError(
      `SWITCHYARD_SLURM_ARGS has the memory "${amount}"; it must be a number with a unit, such as --mem=16G.`,
    );
  if (bytes === null || bytes === 0) return { cores, memoryBytes: null };
  return { cores, memoryBytes: memory === null ? bytes * cores : bytes };
}

/** Returns the value of an argument written as `--name=value`, `--name value` or `-nvalue`; null without it. */
function findSlurmArg(args: readonly string[], long: string, short?: string): string | null {
  let found: string | null = null;
  args.forEach((arg, index) => {
    if (arg.startsWith(`${long}=`)) found = arg.slice(long.length + 1);
    else if (arg === long || arg === short) found = args[index + 1] ?? '';
    else if (short && arg.startsWith(short) && !arg.startsWith('--')) found = arg.slice(short.length);
  });
  return found;
}

/** The worker of this installation: it works where the nodes see the folders of the server, as a home folder usually is. */
function defaultWorkerCommand(): string {
  return [process.execPath, join(import.meta.dirname, '..', '..', '..', 'worker', 'process.ts')]
    .map(quoteShell)
    .join(' ');
}

const KUBERNETES_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

function readKubernetesName(env: Environment, name: string): string | null {
  const value = env[name];
  if (!value) return null;
  if (KUBERNETES_NAME.test(value)) return value;
  throw new ConfigError(
    `${name} is "${value}"; it must be a name of Kubernetes: at most 63 lowercase letters, digits and hyphens.`,
  );
}
