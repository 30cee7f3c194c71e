/** Ports of this machine for servers of other programs, which cannot choose a free one themselves. */
import { createServer } from 'node:net';

/** Returns ports on loopback that no other process uses now, each of them once. */
export async function findFreePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer());
  for (const probe of probes) await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const ports = probes.map((probe) => {
    const address = probe.address();
    return typeof address === 'object' && address ? address.port : 0;
  });
  for (const probe of probes) await new Promise((resolve) => probe.close(resolve));
  return ports;
}
