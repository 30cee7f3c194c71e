/** Creates what the reconciler needs from the settings: the adapter, the names of jobs and the token of workers. */
import { findFirstAccountId } from '../../accounts/account/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Random } from '../../platform/random.ts';
import type { ProvisionerSettings } from '../../platform/settings/provisioner-settings.ts';
import { ensureServerToken } from '../workers/worker-tokens.ts';
import type { WorkerAdapter } from './adapters/adapter.ts';
import { createCommandAdapter } from './adapters/command.ts';
import { createKubernetesAdapter, type OpenKubernetes } from './adapters/kubernetes.ts';
import type { RunCommand } from './adapters/run-command.ts';
import { createSlurmAdapter } from './adapters/slurm.ts';

/** Characters of the installation's id in the names of jobs: its random part. */
const INSTALLATION_CHARACTERS = 10;
/** The name of the worker token in the list of the account. */
const TOKEN_NAME = 'Provisioner';

/** How adapters reach their clusters. */
export interface ClusterAccess {
  runCommand: RunCommand;
  openKubernetes: OpenKubernetes;
}

interface Parts {
  database: Database;
  clock: Clock;
  random: Random;
  /** Its id is the same for all servers of one installation, and another installation on the cluster has another. */
  identity: { readonly id: string };
  /** The key from which the secret of the worker token is derived. */
  key: Buffer;
  /** Absent on a real machine. */
  clusterAccess: ClusterAccess | undefined;
}

export function createProvisioner(
  settings: ProvisionerSettings,
  { database, clock, random, identity, key, clusterAccess }: Parts,
) {
  return {
    settings,
    adapter: createAdapter(settings, clusterAccess),
    namePrefix: `switchyard-${identity.id.slice(-INSTALLATION_CHARACTERS)}-`,
    issueWorkerToken: () =>
      database.transact(async (tx) => {
        const account = await findFirstAccountId(tx);
        if (account === undefined)
          throw new Error('The server has no account that could own a worker token.');
        return ensureServerToken(tx, { clock, random, key }, { account, name: TOKEN_NAME });
      }),
  };
}

function createAdapter(
  { adapter, env }: ProvisionerSettings,
  access: ClusterAccess | undefined,
): WorkerAdapter {
  switch (adapter.kind) {
    case 'command':
      return createCommandAdapter(adapter, env, access?.runCommand);
    case 'slurm':
      return createSlurmAdapter(adapter, env, access?.runCommand);
    case 'kubernetes':
      return createKubernetesAdapter(adapter, env, access?.openKubernetes);
  }
}
