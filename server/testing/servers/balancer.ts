/** A load balancer for tests: one address before several servers, by TCP connections in turns. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Balancer {
  /** The address of all servers together. */
  readonly url: string;
  /** Bytes that clients have sent on all connections, also those that were lost. */
  readonly receivedBytes: number;
  /** Sends new connections to these servers alone. Connections that are open stay where they are. */
  use(urls: readonly string[]): void;
  /** Closes all open connections, as a network that fails does. */
  cut(): void;
  close(): Promise<void>;
}

interface BalancerOptions {
  /** Connections without bytes for this time are closed, as some proxies do; 0 for none. */
  idleMs?: number;
  /** Each time that clients have sent this number of bytes more, all connections are cut. */
  cutAfterBytes?: number;
  /** Called before such a cut. */
  onCut?: () => void;
}

/** Starts a balancer without servers on a free port. A connection that a server refuses goes to the next one. */
export async function startBalancer({
  idleMs = 0,
  cutAfterBytes = Number.POSITIVE_INFINITY,
  onCut = () => {},
}: BalancerOptions = {}): Promise<Balancer> {
  let targets: readonly string[] = [];
  let turn = 0;
  const open = new Set<Socket>();
  let receivedBytes = 0;
  let cutAt = cutAfterBytes;
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const countReceived = (chunk: Buffer): void => {
    receivedBytes += chunk.length;
    if (receivedBytes < cutAt) return;
    cutAt = receivedBytes + cutAfterBytes;
    onCut();
    cut();
  };
  const track = (socket: Socket): Socket => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // An end by an error closes the other side as well; a listener keeps the error from ending this process.
    socket.on('error', () => {});
    return socket;
  };
  const forward = (client: Socket, remaining: number): void => {
    const target = targets[turn % Math.max(1, targets.length)];
    turn += 1;
    if (target === undefined || remaining === 0) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(target);
    const server = track(connect(Number(port), hostname));
    let isOpen = false;
    server.once('connect', () => {
      isOpen = true;
      client.on('data', countReceived).pipe(server);
      server.pipe(client);
    });
    server.once('close', (hasFailed) => {
      if (!isOpen) forward(client, remaining - 1);
      else if (hasFailed) client.destroy();
    });
    client.once('close', () => server.destroy());
  };
  const balancer = createServer({ pauseOnConnect: true }, (client) => {
    track(client).setTimeout(idleMs, () => client.destroy());
    forward(client, targets.length);
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    use(urls) {
      targets = [...urls];
    },
    get receivedBytes() {
      return receivedBytes;
    },
    cut,
    async close() {
      cut();
      await new Promise((resolve) => balancer.close(resolve));
    },
  };
}
