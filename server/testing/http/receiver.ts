/** The parts that HTTP servers of tests share: a free port on loopback, and a list of received items to wait for. */
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

interface ListeningServer {
  readonly port: number;
  /** Stops the server, and closes connections that are open. */
  close(): Promise<void>;
}

/** Lets the server listen on a free port of the host. */
export async function listenOnFreePort(
  server: Server | TlsServer,
  host = '127.0.0.1',
): Promise<ListeningServer> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface ReceivedList<Item> {
  readonly items: readonly Item[];
  add(...items: Item[]): void;
  /** Waits until the condition holds for the items, and returns its result. */
  until<Found>(condition: (items: readonly Item[]) => Found | null | undefined | false): Promise<Found>;
}

/** Returns an empty list, which checks the conditions of those who wait after each addition. */
export function createReceivedList<Item>(): ReceivedList<Item> {
  const items: Item[] = [];
  const waiting = new Set<() => void>();
  return {
    items,
    add(...added) {
      items.push(...added);
      for (const check of waiting) check();
    },
    until(condition) {
      return new Promise((resolve) => {
        const check = (): void => {
          const found = condition(items);
          if (found === null || found === undefined || found === false) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      });
    },
  };
}
