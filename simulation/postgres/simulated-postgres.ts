/**
 * PostgreSQL in the simulated world. The server is real; the messages to it are events, and one statement executes at a time.
 * A statement that waits for a lock lets others go on. Its session is stopped until the lock is free, so that of several that
 * could continue the seed chooses one.
 *
 * Invariant: between two events no session of the server executes anything.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Draws } from '../kernel/draws.ts';
import { EPOCH } from '../kernel/host.ts';
import { measureRealTime, sleepReally } from '../kernel/real-machine.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import type { Admin } from './admin.ts';
import { Backend, type BackendAnswer } from './backend.ts';
import { type ConnectionFaults, NO_CONNECTION_FAULTS } from './connection-faults.ts';
import { Locks } from './locks.ts';
import { areNotificationsUnderWay } from './notifications.ts';
import { type Route, Session } from './session.ts';
import { createResetError, SimulatedSocket } from './simulated-socket.ts';
import { describeUnit, type RequestUnit } from './wire.ts';

/** A statement that has not answered after this time may wait for a lock. */
const LOCK_CHECK_MS = 2;
/** No statement takes as long. */
const STUCK_MS = 60_000;
/** Changes of the rows that the checks read after each event. */
const CHANGES = /^\s*(?:insert|update|delete|with)\b.*"(?:runs|run_events|\w+_licenses|\w+_quotas)"/is;

interface Work {
  session: Session | null;
  backend: Backend;
  /** null: the session is being cleaned for its next user. */
  unit: RequestUnit | null;
}

interface Parts {
  scheduler: Scheduler;
  draws: Draws;
  admin: Admin;
  database: string;
  /** The file from which the functions of the time read. */
  clockFile: string;
}

/** The database of one world. */
export class SimulatedPostgres implements Route {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly usualMs: number;
  readonly #parts: Parts;
  readonly #locks: Locks;
  readonly #owners = new Map<string, SimulatedProcess>();
  readonly #sessions = new Set<Session>();
  readonly #backends = new Set<Backend>();
  /** Sessions of the server without a user, by the bytes with which they began. */
  readonly #idle = new Map<string, Backend[]>();
  readonly #keys = new Map<Backend, string>();
  readonly #works = new Map<Backend, Work>();
  #running: Backend | null = null;
  #sentAt = 0;
  readonly #blocked = new Map<Backend, string>();
  readonly #cleaning: Backend[] = [];
  readonly cut = new Set<string>();
  #downUntil = 0;
  #names = 0;
  #clock = '';
  clockOffset = 0;
  faults: ReadonlyMap<string, ConnectionFaults> = new Map();
  readonly counts = new Map<string, number>();
  /** Grows with each commit that may have changed rows which the checks read. */
  version = 0;
  statements = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#locks = new Locks(parts.admin);
    this.scheduler = parts.scheduler;
    this.draws = parts.draws;
    this.usualMs = parts.draws.pick([0.05, 0.3, 2, 20]);
  }

  /** The process reaches the database under the name of the host. */
  addOwner(host: string, owner: SimulatedProcess): void {
    this.#owners.set(host, owner);
  }

  openSocket(): SimulatedSocket {
    return new SimulatedSocket((socket, host) => {
      const owner = this.#owners.get(host);
      if (!owner) throw new Error(`No simulated process is ${host}.`);
      this.#names += 1;
      const session = new Session(`${owner.name} #${this.#names}`, host, owner, socket, this);
      this.#sessions.add(session);
      return session;
    });
  }

  get isDown(): boolean {
    return this.scheduler.now < this.#downUntil;
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  arrive(session: Session, unit: RequestUnit): void {
    if (!this.#sessions.has(session)) return;
    const faults = this.faults.get(session.host) ?? NO_CONNECTION_FAULTS;
    const isLost = this.draws.happens(faults.lostStatements);
    if (this.isDown || (isLost && unit.kind === 'statement')) {
      if (!this.isDown) this.#count('lostStatements');
      this.scheduler.note(`${session.name} breaks before ${describeUnit(unit)}`);
      this.#break(session);
      return;
    }
    if (unit.kind === 'end') this.#release(session);
    else if (unit.kind === 'startup') this.#start(session, unit);
    else this.#execute(session, unit);
  }

  #start(session: Session, unit: RequestUnit): void {
    const key = unit.bytes.toString('latin1');
    const known = this.#idle.get(key)?.pop();
    if (known) {
      session.backend = known;
      if (known.startup) session.answer(known.startup);
      return;
    }
    const backend = new Backend(
      this.#parts.admin.port,
      (answer) => this.#onAnswer(backend, answer),
      () => this.#wakeUp(),
    );
    this.#backends.add(backend);
    this.#keys.set(backend, key);
    session.backend = backend;
    this.#run({ session, backend, unit });
  }

  #execute(session: Session, unit: RequestUnit): void {
    const { backend } = session;
    if (!backend) return;
    this.statements += 1;
    this.scheduler.note(`${session.name} ${describeUnit(unit)}`);
    this.#run({ session, backend, unit });
  }

  #run(work: Work): void {
    this.#setClock();
    this.#works.set(work.backend, work);
    this.#watch(work.backend);
    work.backend.send(work.unit?.bytes ?? Buffer.alloc(0));
  }

  #watch(backend: Backend): void {
    this.#running = backend;
    this.#sentAt = measureRealTime();
  }

  #setClock(): void {
    const text = String(Math.floor(EPOCH + this.scheduler.now + this.clockOffset));
    if (text === this.#clock) return;
    this.#clock = text;
    writeFileSync(this.#parts.clockFile, text);
  }

  #onAnswer(backend: Backend, answer: BackendAnswer): void {
    if (this.#running === backend) this.#running = null;
    this.#wakeUp();
    this.#isChecked = false;
    const work = this.#works.get(backend);
    this.#works.delete(backend);
    if (work?.unit) this.#noteEffects(backend, work.unit, answer);
    const session = work?.session ?? null;
    if (!session) {
      this.#finishCleaning(backend);
      return;
    }
    const faults = this.faults.get(session.host) ?? NO_CONNECTION_FAULTS;
    if (work?.unit?.kind === 'statement') {
      const result = createHash('sha256').update(answer.bytes).digest('hex').slice(0, 8);
      this.scheduler.note(`${session.name} ${backend.state}${answer.hasFailed ? ' failed' : ''} ${result}`);
      if (this.draws.happens(faults.lostAnswers)) {
        this.#count('lostAnswers');
        this.scheduler.note(`${session.name} breaks before the answer`);
        this.#break(session);
        return;
      }
    }
    if (session.isClosed) this.#release(session);
    else session.answer(answer.bytes);
  }

  #noteEffects(backend: Backend, { sql }: RequestUnit, { hasFailed }: BackendAnswer): void {
    if (hasFailed) return;
    if (/^listen\b/i.test(sql)) backend.isListening = true;
    if (CHANGES.test(sql)) backend.hasChanged = true;
    if (backend.state === 'I' && backend.hasChanged) {
      this.version += 1;
      backend.hasChanged = false;
    }
    if (!sql.includes('pg_notify(')) return;
    for (const one of this.#backends) if (one.isListening && !one.isClosed) one.expected += 1;
  }

  /** Breaks a connection: the process hears of it, and the database rolls back. */
  #break(session: Session): void {
    session.break();
    this.#release(session);
  }

  onLeave(session: Session): void {
    // What is under way may still arrive before the database sees the end.
    if (session.pending > 0 && this.draws.happens(0.5)) return;
    this.#release(session);
  }

  /** The database has seen the end of the connection. A statement that waits for a lock goes on without its client. */
  #release(session: Session): void {
    if (!this.#sessions.delete(session)) return;
    session.isClosed = true;
    const { backend } = session;
    if (!backend || backend.isClosed) return;
    const work = this.#works.get(backend);
    if (work) work.session = null;
    else this.#cleaning.push(backend);
  }

  #finishCleaning(backend: Backend): void {
    const key = this.#keys.get(backend);
    const isClean = this.#cleaned.delete(backend);
    if (backend.isClosed || key === undefined) return;
    if (!isClean) {
      this.#cleaning.push(backend);
      return;
    }
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    idle.push(backend);
  }

  /** Sessions whose last step of cleaning is under way. */
  readonly #cleaned = new Set<Backend>();

  #clean(backend: Backend): void {
    if (backend.isClosed) return;
    this.#works.set(backend, { session: null, backend, unit: null });
    this.#watch(backend);
    if (backend.state === 'I') {
      backend.isListening = false;
      this.#cleaned.add(backend);
      backend.sendQuery('discard all');
    } else backend.sendQuery('rollback');
  }

  /** Returns true while the server executes something. Throws when that does not end. */
  isBusy(): boolean {
    const isBusy = this.#advance();
    if (!isBusy) this.#busySince = null;
    else if (this.#busySince === null) this.#busySince = measureRealTime();
    else if (measureRealTime() - this.#busySince > STUCK_MS)
      throw new Error(`PostgreSQL does not answer: ${this.#describe()}`);
    return isBusy;
  }

  /** Resolves when an answer has arrived, or when the locks should be looked at. */
  rest(): Promise<void> {
    const sleep = sleepReally(LOCK_CHECK_MS);
    this.#wakeUp = sleep.wake;
    return sleep.ended;
  }

  #wakeUp = (): void => {};
  #busySince: number | null = null;

  #describe(): string {
    const works = [...this.#works.values()].map(
      ({ session, unit }) => `${session?.name}: ${unit?.sql ?? 'cleaning'}`,
    );
    const waiting = [...this.#backends].filter(({ expected }) => expected > 0).length;
    return `running ${this.#running?.pid}; ${works.join('; ')}; ${waiting} expect notifications`;
  }

  #advance(): boolean {
    if (this.#running) {
      this.#checkLock(this.#running);
      return true;
    }
    const next = this.#cleaning.shift();
    if (next) {
      this.#clean(next);
      return true;
    }
    if (this.#blocked.size > 0 && this.#wake()) return true;
    return areNotificationsUnderWay(this.#backends, this.#sessions);
  }

  #checkLock(backend: Backend): void {
    if (backend.isClosed) {
      this.#running = null;
      return;
    }
    if (backend.pid === 0 || measureRealTime() - this.#sentAt < LOCK_CHECK_MS) return;
    if (this.#locks.findFree([backend]).length > 0) {
      this.#sentAt = measureRealTime();
      return;
    }
    backend.stop();
    this.#running = null;
    const name = this.#works.get(backend)?.session?.name ?? 'a session without a client';
    this.#blocked.set(backend, name);
    this.#count('lockWaits');
    this.#isChecked = false;
    this.scheduler.note(`${name} waits for a lock`);
    this.#breakDeadlock(backend);
  }

  /** The blocked sessions were asked since the last statement. */
  #isChecked = false;

  /** Lets one session continue whose lock is free now. */
  #wake(): boolean {
    if (this.#isChecked) return false;
    this.#isChecked = true;
    const free = this.#locks.findFree([...this.#blocked.keys()]);
    if (free.length === 0) return false;
    const backend = this.draws.pick(free);
    this.#isChecked = false;
    this.#blocked.delete(backend);
    this.#setClock();
    this.#watch(backend);
    backend.continue();
    return true;
  }

  /** Ends one of the statements that wait for each other, as PostgreSQL does after a while. */
  #breakDeadlock(from: Backend): void {
    const candidates = this.#locks.findCycle(from, [...this.#blocked.keys()]);
    if (candidates.length === 0) return;
    const victim = this.draws.pick(candidates);
    this.#count('deadlocks');
    this.scheduler.note(`${this.#blocked.get(victim)} is the victim of a deadlock`);
    this.#blocked.delete(victim);
    victim.markDeadlocked();
    this.#locks.cancel(victim);
    this.#watch(victim);
    victim.continue();
  }

  /** Closes all connections of a process that has ended. */
  leave(host: string): void {
    for (const session of [...this.#sessions]) if (session.host === host) session.leave();
    this.#owners.delete(host);
  }

  /** Breaks all connections of a process. */
  breakConnections(host: string): void {
    for (const session of [...this.#sessions]) if (session.host === host) this.#break(session);
  }

  /** Ends PostgreSQL as a crash does; it is there again after the time. */
  crash(downMs: number): void {
    this.scheduler.note('PostgreSQL ends');
    this.#downUntil = this.scheduler.now + downMs;
    for (const session of [...this.#sessions]) session.break(createResetError());
    this.#forget();
    this.#parts.admin.restart();
    this.version += 1;
  }

  #forget(): void {
    for (const backend of this.#backends) backend.discard();
    this.#sessions.clear();
    this.#backends.clear();
    this.#idle.clear();
    this.#keys.clear();
    this.#works.clear();
    this.#blocked.clear();
    this.#cleaned.clear();
    this.#cleaning.length = 0;
    this.#running = null;
  }

  /** Ends all faults. */
  heal(): void {
    this.cut.clear();
    this.faults = new Map();
    this.#downUntil = 0;
  }

  close(): void {
    this.#forget();
  }
}
