/** The programs by which the provisioner reaches a simulated cluster: those of Slurm, and the commands of an operator. */
import type { RunCommand } from '../../server/runs/provisioner/adapters/run-command.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { Cluster, ClusterJob } from './cluster.ts';

/** The real programs are ended after this time. */
const LIMIT_MS = 60_000;
const TOKEN_VARIABLE = 'SWITCHYARD_WORKER_TOKEN';

interface Call {
  args: readonly string[];
  input: string;
  env: NodeJS.ProcessEnv;
}

/** The settings of a server whose commands the cluster knows. */
export const COMMAND_SETTINGS = {
  SWITCHYARD_COMMAND_START: 'start-worker',
  SWITCHYARD_COMMAND_LIST: 'list-workers',
  SWITCHYARD_COMMAND_STOP: 'stop-worker',
};

/** Returns the programs for a process. */
export function createCommands(cluster: Cluster, owner: SimulatedProcess): RunCommand {
  return (program, args, { env, input = '' }) => {
    const name = program === 'sh' ? String(args[1]) : program;
    const run = PROGRAMS[name];
    if (!run) return Promise.reject(new Error(`${name} is no program of the simulated cluster.`));
    const fail = (reason: 'silent' | 'refused'): Error => {
      if (name === 'sbatch' || name === 'start-worker')
        cluster.watch.forget(readName(name, { args, env, input }));
      else cluster.watch.registered();
      return new Error(
        reason === 'silent'
          ? `${program} was ended by SIGKILL: no message on standard error`
          : `${program} ended with status 1: Unable to contact the controller`,
      );
    };
    let listed: ClusterJob[] | null = null;
    const listJobs = (): ClusterJob[] => {
      listed = cluster.list();
      return listed;
    };
    const heard = (): void => {
      if (listed) cluster.watch.listed(listed);
    };
    return cluster.call(owner, { limitMs: LIMIT_MS, fail, heard }, () =>
      run(cluster, { args, env, input }, listJobs),
    );
  };
}

function readName(program: string, { args, env }: Call): string {
  if (program === 'start-worker') return String(env.WORKER_NAME);
  return args.find((arg) => arg.startsWith('--job-name='))?.slice('--job-name='.length) ?? '';
}

type Program = (cluster: Cluster, call: Call, listJobs: () => ClusterJob[]) => string;

const PROGRAMS: Record<string, Program> = {
  'start-worker': (cluster, call) =>
    cluster.submit({
      name: readName('start-worker', call),
      args: String(call.env.WORKER_ARGUMENTS).split(' '),
      readToken: () => String(call.env[TOKEN_VARIABLE]),
    }).id,
  'list-workers': (_cluster, _call, listJobs) =>
    listJobs()
      .map(({ name, id, state, pendingReason, failure }) => {
        const word = pendingReason === 'blocked' ? 'blocked' : failure === '' ? state : 'failed';
        return `${name} ${id} ${word} ${pendingReason}${failure}\n`;
      })
      .join(''),
  'stop-worker': (cluster, { env }) => {
    cluster.stop(String(env.WORKER_ID), { force: env.WORKER_FORCE === '1' });
    return '';
  },
  sbatch(cluster, call) {
    const [, command = ''] = /exec worker (.*)/.exec(call.input) ?? [];
    const { id } = cluster.submit({
      name: readName('sbatch', call),
      args: command.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1')),
      readToken: () => String(call.env[TOKEN_VARIABLE]),
    });
    return `${id}\n`;
  },
  squeue: (_cluster, _call, listJobs) => JSON.stringify({ errors: [], jobs: listJobs().map(formatSlurmJob) }),
  scancel(cluster, { args }) {
    const id = args.at(-1) ?? '';
    const isWaiting = args.includes('--state=PENDING');
    const isSignal = args.includes('--signal=TERM');
    const found = cluster.stop(id, {
      force: !isSignal,
      ...(isWaiting ? { only: 'pending' as const } : {}),
      ...(isSignal ? { only: 'running' as const } : {}),
    });
    if (!found) throw new Error('scancel ended with status 1: Invalid job id specified');
    return '';
  },
};

const SLURM_STATES = { pending: 'PENDING', running: 'RUNNING', ended: 'COMPLETED' } as const;
const SLURM_REASONS: Record<string, string> = { blocked: 'PartitionTimeLimit', held: 'Resources' };

/** Returns the job in the form of the versions from 23.02 on. */
function formatSlurmJob({ name, id, state, pendingReason, failure }: ClusterJob): object {
  const isListedState = failure in SLURM_ENDS ? SLURM_ENDS[failure] : failure === '' ? null : 'FAILED';
  return {
    name,
    job_id: Number(id),
    job_state: [isListedState ?? SLURM_STATES[state]],
    state_reason: SLURM_REASONS[pendingReason] ?? 'None',
  };
}

const SLURM_ENDS: Record<string, string> = { CANCELLED: 'CANCELLED', NODE_FAIL: 'NODE_FAIL' };
