/**
 * The connections of one run, at most a number. The port of a run with network is open to every such run, which could use up
 * the number. Therefore a new connection beyond it closes the oldest of the first kind that exists. The kinds are:
 * 1. Without the token of the run on any request so far, and without a request under way.
 * 2. Without the token, with a request under way.
 * 3. With the token, without a request under way.
 *
 * The new connection is closed when all others have the token and a request under way.
 */
import type { SequentialConnection } from './sequential-connection.ts';

export class RunConnections {
  readonly #countMax: () => number;
  /** In the order in which they were opened. */
  readonly #open = new Set<SequentialConnection>();

  constructor(countMax: () => number) {
    this.#countMax = countMax;
  }

  /** Returns false for a connection that it has closed at once. */
  add(connection: SequentialConnection): boolean {
    if (this.#open.size >= this.#countMax() && !this.#closeOne()) {
      connection.destroy();
      return false;
    }
    this.#open.add(connection);
    connection.once('close', () => this.#open.delete(connection));
    return true;
  }

  destroy(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #closeOne(): boolean {
    const kinds: ((one: SequentialConnection) => boolean)[] = [
      ({ isTrusted, isBusy }) => !isTrusted && !isBusy,
      ({ isTrusted }) => !isTrusted,
      ({ isBusy }) => !isBusy,
    ];
    for (const isKind of kinds) {
      for (const connection of this.#open) {
        if (!isKind(connection)) continue;
        this.#open.delete(connection);
        connection.destroy();
        return true;
      }
    }
    return false;
  }
}
