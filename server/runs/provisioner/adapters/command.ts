/**
 * The adapter for any cluster that shell commands can reach, such as Nomad, AWS Batch or machines over ssh. The commands run
 * with `sh -c`, and get what they need in environment variables, never as text within the command.
 */
import type { CommandSettings } from '../../../platform/settings/provisioner-settings.ts';
import {
  formatWorkerArguments,
  type JobRequest,
  type ListedJob,
  TOKEN_VARIABLE,
  type WorkerAdapter,
} from './adapter.ts';
import { type RunCommand, runCommand } from './run-command.ts';

/** Environment variables that commands get besides those of the server. */
const VARIABLES = {
  name: 'WORKER_NAME',
  prefix: 'WORKER_NAME_PREFIX',
  id: 'WORKER_ID',
  force: 'WORKER_FORCE',
  server: 'WORKER_SERVER',
  idle: 'WORKER_IDLE',
  labels: 'WORKER_LABELS',
  arguments: 'WORKER_ARGUMENTS',
} as const;

const STATES = ['pending', 'blocked', 'running', 'ended', 'failed'] as const;

/** Creates the adapter. `env` is the environment of the commands. */
export function createCommandAdapter(
  settings: CommandSettings,
  env: NodeJS.ProcessEnv,
  execute: RunCommand = runCommand,
): WorkerAdapter {
  const run = (command: string, variables: Record<string, string>, needsOutput = false): Promise<string> =>
    execute('sh', ['-c', command], { env: { ...env, ...variables }, needsOutput });
  return {
    kind: 'command',
    async start(request) {
      const output = await run(settings.start, formatVariables(request));
      // A command whose cluster gives no ids prints nothing.
      return output.trim().split('\n').at(-1)?.trim() || request.name;
    },
    // The last command of a pipe decides about the status, so that a cluster that did not answer looks empty.
    list: async (prefix) => parseList(await run(settings.list, { [VARIABLES.prefix]: prefix }, true), prefix),
    async stop(id, { force }) {
      await run(settings.stop, { [VARIABLES.id]: id, [VARIABLES.force]: force ? '1' : '' });
    },
  };
}

/** The arguments need no quotation marks: names and labels have none of the characters of a shell, and an address is encoded. */
function formatVariables(request: JobRequest): Record<string, string> {
  return {
    [VARIABLES.name]: request.name,
    [VARIABLES.server]: request.server,
    [VARIABLES.idle]: String(request.idleMs / 1000),
    [VARIABLES.labels]: request.labels.join(','),
    [VARIABLES.arguments]: formatWorkerArguments(request).join(' '),
    [TOKEN_VARIABLE]: request.token,
  };
}

/** Parses lines `name id state reason`; throws an Error for a line of another form. A blocked job is a pending one. */
function parseList(text: string, prefix: string): ListedJob[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', id, word, ...reason] = line.trim().split(/\s+/);
      const state = STATES.find((one) => one === word);
      if (id === undefined || state === undefined)
        throw new Error(
          `SWITCHYARD_COMMAND_LIST printed "${line.slice(0, 100)}"; each line must have name, id and state of a job, with a state of ${STATES.join(', ')}.`,
        );
      const text = reason.join(' ');
      const job = { name, id, pending: null, failure: null };
      switch (state) {
        case 'failed':
          return { ...job, state: 'ended' as const, failure: text || 'no reason given' };
        case 'blocked':
          return {
            ...job,
            state: 'pending' as const,
            pending: { text: text || 'no reason given', isBlocked: true },
          };
        case 'pending':
          return { ...job, state, pending: text === '' ? null : { text, isBlocked: false } };
        default:
          return { ...job, state };
      }
    })
    .filter(({ name }) => name.startsWith(prefix));
}
