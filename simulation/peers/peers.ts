/** What a server talks to besides its database: a cluster, and an identity provider. Each is there when a step asks for it before the server starts. */
import type { ServerOverrides } from '../../server/main.ts';
import type { Draws } from '../kernel/draws.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { SimulatedWorker, WorkerSettings } from '../workers/simulated-worker.ts';
import { Cluster } from './cluster.ts';
import { KubernetesApi } from './cluster-api.ts';
import { COMMAND_SETTINGS, createCommands } from './cluster-commands.ts';
import { NO_CLUSTER_FAULTS } from './cluster-faults.ts';
import { CLI_CLIENT_ID, CLIENT_ID, ISSUER } from './id-tokens.ts';
import { GROUP_ROLES, SimulatedIdentityProvider } from './identity-provider.ts';

type Machine = NonNullable<ServerOverrides['machine']>;

interface PeersParts {
  /** Returns true once the clock of a server has jumped. */
  hasJumped(): boolean;
  scheduler: Scheduler;
  createDraws(purpose: string): Draws;
  report(promise: string, detail: string): void;
  startWorker(settings: WorkerSettings, onEnd: () => void): SimulatedWorker;
  /** Returns the id of an account. */
  findAccount(index: number): string;
}

/** The settings of a provisioner. */
export interface ClusterSettings {
  adapter: 'command' | 'slurm' | 'kubernetes';
  max: number;
  idleSeconds: number;
  cores: number;
  labels: readonly string[];
}

const ADAPTER_SETTINGS: Record<ClusterSettings['adapter'], Record<string, string>> = {
  command: COMMAND_SETTINGS,
  slurm: { SWITCHYARD_SLURM_WORKER: 'worker' },
  kubernetes: { SWITCHYARD_KUBERNETES_IMAGE: 'registry.example/worker:1' },
};

/** The peers of one world. */
export class Peers {
  readonly #parts: PeersParts;
  readonly #secrets = new Map<string, string>();
  /** null: the server has no provisioner. */
  cluster: Cluster | null = null;
  /** null: the server has no single sign-on. */
  identityProvider: SimulatedIdentityProvider | null = null;
  /** The index of the account that people of the identity provider join. */
  identityAccount = 0;
  /** When all faults ended; null before. */
  healedAt: number | null = null;
  /** Settings of the server, for its next start. */
  settings: Record<string, string> = {};

  constructor(parts: PeersParts) {
    this.#parts = parts;
  }

  /** Gives the servers that start from now on a provisioner on the cluster. */
  useCluster({ adapter, max, idleSeconds, cores, labels }: ClusterSettings): void {
    const { createDraws } = this.#parts;
    this.cluster ??= new Cluster({ ...this.#parts, draws: createDraws('cluster') });
    this.cluster.watch.max = Math.max(max, this.cluster.watch.max);
    this.settings = {
      ...this.settings,
      SWITCHYARD_PROVISIONER: adapter,
      SWITCHYARD_PROVISIONER_MAX: String(max),
      SWITCHYARD_PROVISIONER_IDLE: String(idleSeconds),
      SWITCHYARD_PROVISIONER_SIZE: `cores=${cores}`,
      SWITCHYARD_PROVISIONER_LABELS: labels.join(','),
      ...ADAPTER_SETTINGS[adapter],
    };
  }

  /** Gives the servers that start from now on an identity provider, whose people join the account. */
  useIdentityProvider(isWeak: boolean, account: number): void {
    const { scheduler, createDraws, findAccount } = this.#parts;
    this.identityProvider = new SimulatedIdentityProvider({ scheduler, draws: createDraws('provider') });
    this.identityProvider.isWeak = isWeak;
    this.identityAccount = account;
    this.settings = {
      ...this.settings,
      SWITCHYARD_OIDC_ISSUER: ISSUER,
      SWITCHYARD_OIDC_CLIENT_ID: CLIENT_ID,
      SWITCHYARD_OIDC_CLI_CLIENT_ID: CLI_CLIENT_ID,
      SWITCHYARD_OIDC_DOMAINS: 'example.com',
      SWITCHYARD_OIDC_ROLES: Object.entries(GROUP_ROLES)
        .map(([group, role]) => `${group}=${role}`)
        .join(','),
      SWITCHYARD_OIDC_ACCOUNT: findAccount(account),
    };
  }

  /** Returns the ways of a process to its peers. */
  connect(owner: SimulatedProcess): Partial<Machine> {
    const { cluster, identityProvider } = this;
    const { scheduler } = this.#parts;
    return {
      ...(identityProvider && { fetchFromProvider: identityProvider.connect(owner) }),
      ...(cluster && {
        clusterAccess: {
          runCommand: createCommands(cluster, owner),
          openKubernetes: async () =>
            new KubernetesApi(cluster, this.#secrets, {
              owner,
              after: (ms, run) => void scheduler.after(ms, '', run),
            }),
        },
      }),
    };
  }

  /** How often each fault happened. */
  get counts(): ReadonlyMap<string, number> {
    return new Map([...(this.cluster?.counts ?? []), ...(this.identityProvider?.counts ?? [])]);
  }

  /** Returns what has to come to its end, once the faults are over. */
  listWaiting(): string[] {
    return (this.cluster?.live ?? []).map(({ name, state }) => `${name} is ${state} on the cluster`);
  }

  /** Ends all faults. */
  heal(): void {
    this.healedAt = this.#parts.scheduler.now;
    this.identityProvider?.heal();
    if (this.cluster) this.cluster.faults = NO_CLUSTER_FAULTS;
  }
}
