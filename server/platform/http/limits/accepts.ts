/**
 * Accepts waiting callers before the server begins anything else.
 *
 * Node accepts one connection in a turn of the event loop, in the order in which callers connected. When each turn also began
 * handshakes and handled requests, a caller behind 400 new ones of another address was accepted after all work of a second.
 * So a turn that accepted a connection begins nothing, for up to 5 ms in a row. Then one turn begins one thing, and the 5 ms
 * start again. A server that accepts a connection in every turn therefore still gets its work done.
 */

/** The time in which turns with a new connection begin nothing. */
const ACCEPT_MS = 5;

/** The work that a turn may begin besides the connection that it accepted: as much as usual when it accepted none. */
export type TurnShare = 'nothing' | 'one' | 'usual';

/** The connections that a server has accepted. */
export class Accepts {
  readonly #now: () => number;
  #count = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Records a new connection. */
  add(): void {
    this.#count += 1;
  }

  /** Returns a function to call once in a turn, which returns the share of that turn. Each kind of work has its own. */
  follow(): () => TurnShare {
    let seen = this.#count;
    /** The time since which turns have begun nothing; null after one that has. */
    let since: number | null = null;
    return () => {
      const hasNew = this.#count !== seen;
      seen = this.#count;
      if (!hasNew) {
        since = null;
        return 'usual';
      }
      const now = this.#now();
      since ??= now;
      if (now - since < ACCEPT_MS) return 'nothing';
      since = null;
      return 'one';
    };
  }
}
