/** The connections of the simulation itself to PostgreSQL. Each call blocks the thread until the answer is there. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';

export type AdminRequest =
  | { do: 'describe' }
  | { do: 'restart' }
  | { do: 'disconnect'; database: string }
  | { do: 'query'; database: string; sql: string; values?: readonly unknown[] };

export type AdminRow = Record<string, unknown>;

const WAIT_MS_MAX = 60_000;

/** A PostgreSQL server and its administrator. */
export class Admin {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #flag: Int32Array;
  /** The process of the server. */
  #pid = 0;
  port = 0;

  private constructor(worker: Worker, port: MessagePort, flag: Int32Array) {
    this.#worker = worker;
    this.#port = port;
    this.#flag = flag;
  }

  /** Starts PostgreSQL with its programs in the folder; resolves once it accepts connections. */
  static async start(folder: string): Promise<Admin> {
    const { port1, port2 } = new MessageChannel();
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(new URL('./admin-thread.ts', import.meta.url), {
      workerData: { port: port2, flag, folder },
      transferList: [port2],
    });
    await new Promise<void>((resolve, reject) => {
      worker.once('message', () => resolve());
      worker.once('error', reject);
    });
    worker.unref();
    const admin = new Admin(worker, port1, flag);
    admin.#describe();
    return admin;
  }

  #describe(): void {
    const { url, pid } = this.#call({ do: 'describe' }) as { url: string; pid: number };
    this.port = Number(new URL(url).port);
    this.#pid = pid;
  }

  #call(request: AdminRequest): unknown {
    Atomics.store(this.#flag, 0, 0);
    this.#port.postMessage(request);
    if (Atomics.wait(this.#flag, 0, 0, WAIT_MS_MAX) === 'timed-out')
      throw new Error(`PostgreSQL does not answer: ${JSON.stringify(request)}`);
    const { message } = receiveMessageOnPort(this.#port) ?? {};
    if (message?.error !== undefined) throw new Error(message.error);
    return message?.result;
  }

  /** Returns the rows of a statement. */
  query(database: string, sql: string, values: readonly unknown[] = []): AdminRow[] {
    return this.#call({ do: 'query', database, sql, values }) as AdminRow[];
  }

  /** Closes the connection of the simulation to the database. */
  disconnect(database: string): void {
    this.#call({ do: 'disconnect', database });
  }

  /** Ends PostgreSQL as a crash does, and starts it again. */
  restart(): void {
    this.#call({ do: 'restart' });
    this.#describe();
  }

  /** Ends PostgreSQL for good; its data are in memory and go with it. */
  kill(): void {
    try {
      process.kill(this.#pid, 'SIGQUIT');
    } catch {
      // It has ended.
    }
    void this.#worker.terminate();
  }
}
