/** Faults of remote workers and of their network. */
import { LEASE_DURATION_MS } from '@switchyard/contract/limits.ts';
import type { RandomGenerator } from '../../server/random-generator.ts';
import { sleep } from '../../server/testing/host/sleep.ts';
import type { Cluster } from '../cluster.ts';
import type { Fault } from '../context.ts';
import type { RemoteMember } from './remote-workers.ts';

const SHORT_CUT_MS = 5000;
/** Longer than the lease and the time after it in which a worker is declared dead. */
const LONG_CUT_MS = LEASE_DURATION_MS + 25_000;

const killed: Fault = {
  name: 'a remote worker was killed (SIGKILL) and started again',
  weight: 3,
  async inject({ cluster }, draw) {
    await pick(cluster, draw)?.end('SIGKILL');
    return true;
  },
};

const preempted: Fault = {
  name: 'a remote worker was stopped (SIGTERM) and started again',
  weight: 2,
  async inject({ cluster }, draw) {
    await pick(cluster, draw)?.end('SIGTERM');
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
    const restored = remotes.cut(LONG_CUT_MS).then(() => void background.delete(restored));
    background.add(restored);
    return true;
  },
};

const suspended: Fault = {
  name: 'a remote worker was suspended for longer than its lease, and resumed late (SIGSTOP)',
  weight: 1,
  async inject({ cluster, background }, draw) {
    const one = pick(cluster, draw);
    if (!one || background.size > 0) return false;
    const { pid } = one;
    one.isFrozen = true;
    process.kill(pid, 'SIGSTOP');
    const thawed = sleep(LONG_CUT_MS).then(() => {
      process.kill(pid, 'SIGCONT');
      one.isFrozen = false;
      background.delete(thawed);
    });
    background.add(thawed);
    return true;
  },
};

/** The faults of a cluster with remote workers. */
export const REMOTE_FAULTS: readonly Fault[] = [killed, preempted, cut, longCut, suspended];

function pick(cluster: Cluster, draw: RandomGenerator): RemoteMember | undefined {
  const candidates = (cluster.remotes?.members ?? []).filter(({ isFrozen }) => !isFrozen);
  return candidates[draw.integerBelow(Math.max(1, candidates.length))];
}
