/** A session of PostgreSQL on a real connection. It executes one unit at a time. */
import { connect, type Socket } from 'node:net';
import { formatError, formatQuery, ResponseReader } from './wire.ts';

/** The answer of PostgreSQL to one unit. */
export interface BackendAnswer {
  bytes: Buffer;
  hasFailed: boolean;
}

/** One session. */
export class Backend {
  readonly #socket: Socket;
  readonly #reader = new ResponseReader();
  readonly #onAnswer: (answer: BackendAnswer) => void;
  readonly #onNotification: () => void;
  #parts: Buffer[] = [];
  #hasFailed = false;
  #isDeadlocked = false;
  #isStopped = false;
  /** The answer to the first unit, for the next user of this session. */
  startup: Buffer | null = null;
  pid = 0;
  /** I: idle, T: in a transaction, E: in a failed transaction. */
  state = 'I';
  isWorking = false;
  isClosed = false;
  isListening = false;
  /** Its transaction has changed rows that the checks read after each event. */
  hasChanged = false;
  /** Notifications that have arrived, less those that were expected. */
  notifications: Buffer[] = [];
  expected = 0;

  /** `onAnswer` receives each answer. */
  constructor(port: number, onAnswer: (answer: BackendAnswer) => void, onNotification: () => void) {
    this.#onNotification = onNotification;
    this.#onAnswer = onAnswer;
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.isClosed = true;
    });
  }

  send(bytes: Buffer): void {
    this.isWorking = true;
    this.#parts = [];
    this.#hasFailed = false;
    this.#socket.write(bytes);
  }

  sendQuery(sql: string): void {
    this.send(formatQuery(sql));
  }

  #receive(bytes: Buffer): void {
    if (this.isClosed) return;
    for (const message of this.#reader.read(bytes)) {
      if (message.kind === 'notification') {
        this.notifications.push(message.bytes);
        this.#onNotification();
      } else this.#add(message.kind, message.bytes);
    }
  }

  #add(kind: string, bytes: Buffer): void {
    if (kind === 'key') this.pid = bytes.readInt32BE(5);
    if (kind === 'error') this.#hasFailed = true;
    const isVictim = kind === 'error' && this.#isDeadlocked;
    this.#parts.push(isVictim ? formatError('40P01', 'deadlock detected') : bytes);
    if (kind !== 'ready') return;
    this.state = String.fromCharCode(bytes[5] ?? 0);
    this.isWorking = false;
    this.#isDeadlocked = false;
    const answer = Buffer.concat(this.#parts);
    this.startup ??= answer;
    this.#onAnswer({ bytes: answer, hasFailed: this.#hasFailed });
  }

  /** Keeps the session from continuing when another one releases the lock for which it waits. */
  stop(): void {
    if (!this.#isStopped) process.kill(this.pid, 'SIGSTOP');
    this.#isStopped = true;
  }

  /** Lets the session continue. */
  continue(): void {
    if (this.#isStopped) process.kill(this.pid, 'SIGCONT');
    this.#isStopped = false;
  }

  /** The error of the present statement is a deadlock, from now on. */
  markDeadlocked(): void {
    this.#isDeadlocked = true;
  }

  /** Forgets the session, whatever it does. */
  discard(): void {
    this.isClosed = true;
    this.isWorking = false;
    this.continueQuietly();
    this.#socket.destroy();
  }

  private continueQuietly(): void {
    try {
      this.continue();
    } catch {
      // The process has ended.
    }
  }
}
