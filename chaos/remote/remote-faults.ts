/** Faults of remote workers and of their network. */
import type { RandomGenerator } from '../../server/platform/random-generator.ts';
import type { Cluster } from '../cluster.ts';
import { BEYOND_LEASE_MS, type Fault, pick, suspendBeyondLease } from '../context.ts';
import type { RemoteMember } from './remote-workers.ts';

const SHORT_CUT_MS = 5000;

const killed: Fault = {
  name: 'a remote worker was killed (SIGKILL) and started again',
  weight: 3,
  async inject({ cluster }, draw) {
    await pickRemote(cluster, draw)?.end('SIGKILL');
    return true;
  },
};

const preempted: Fault = {
  name: 'a remote worker was stopped (SIGTERM) and started again',
  weight: 2,
  async inject({ cluster }, draw) {
    await pickRemote(cluster, draw)?.end('SIGTERM');
    return true;
  },
};

const cut: Fault = {
  name: 'the network of the remote workers was cut for seconds',
  weight: 2,
  async inject({ cluster }, draw) {
    await cluster.remotes?.cut(200 + draw.integerBelow(SHORT_CUT_MS));
    return true;
  },
};

const longCut: Fault = {
  name: 'the network of the remote workers was cut for longer than a lease',
  weight: 1,
  async inject({ cluster, background }) {
    const { remotes } = cluster;
    if (!remotes || background.size > 0) return false;
    const restored = remotes.cut(BEYOND_LEASE_MS).then(() => void background.delete(restored));
    background.add(restored);
    return true;
  },
};

const suspended: Fault = {
  name: 'a remote worker was suspended for longer than its lease, and resumed late (SIGSTOP)',
  weight: 1,
  async inject(context, draw) {
    const one = pickRemote(context.cluster, draw);
    if (!one || context.background.size > 0) return false;
    suspendBeyondLease(one, one.pid, context);
    return true;
  },
};

/** The faults of a cluster with remote workers. */
export const REMOTE_FAULTS: readonly Fault[] = [killed, preempted, cut, longCut, suspended];

function pickRemote({ remotes }: Cluster, draw: RandomGenerator): RemoteMember | undefined {
  return pick(
    draw,
    (remotes?.members ?? []).filter(({ isFrozen }) => !isFrozen),
  );
}
