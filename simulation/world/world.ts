/** A simulated world: one server on its disk, remote workers, clients and receivers, on one scheduler. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Draws } from '../kernel/draws.ts';
import { isNodeBusy, setHost } from '../kernel/host.ts';
import { Scheduler } from '../kernel/scheduler.ts';
import { Client } from '../load/client.ts';
import { MemoryBlobs } from '../machine/memory-blobs.ts';
import { type CrashKind, SimulatedDisk } from '../machine/simulated-disk.ts';
import { type ServerParts, SimulatedServer, type WireResponse } from '../machine/simulated-server.ts';
import { Ledger } from '../model/ledger.ts';
import { type ObservedConnection, Observer } from '../model/observer.ts';
import { Network } from '../network/network.ts';
import { NO_RECEIVER_FAULTS, Receivers } from '../network/receivers.ts';
import { Peers } from '../peers/peers.ts';
import { SimulatedWorker, type WorkerSettings } from '../workers/simulated-worker.ts';
import { packApp, pushApp, type SimulatedAccount, setUp } from './setup.ts';
import type { OpenStorage, Servers, Storage } from './storage.ts';

/** Files of simulated disks are in memory. */
const MEMORY = '/dev/shm';

/** How long a server works for an event, by which the next ones find it at work. */
const OVERLAPS_MS = [0, 1, 20];

/** The stopped server with which worlds begin. */
export interface Template {
  /** Its data folder. */
  folder: string;
  blobs: MemoryBlobs;
  accounts: SimulatedAccount[];
  rootToken: string;
  endedAt: number;
}

interface WorldSettings {
  keepsTrace?: boolean;
  /** Without it the world begins with an empty disk. */
  template?: Template | null;
  /** Opens the database that several servers share; without it one server has a disk. */
  openStorage?: OpenStorage | undefined;
}

/** Everything of one simulation. */
export class World {
  readonly scheduler: Scheduler;
  readonly disk: SimulatedDisk;
  readonly blobs: MemoryBlobs;
  readonly server: Servers;
  /** null: one server has a disk. */
  readonly storage: Storage | null;
  readonly network: Network;
  readonly receivers: Receivers;
  readonly peers: Peers;
  readonly ledger: Ledger;
  /** Reads the last commit. */
  readonly observer: Observer;
  readonly workers: SimulatedWorker[] = [];
  /** How often each fault began. */
  readonly faults = new Map<string, number>();
  accounts: SimulatedAccount[] = [];
  /** The token of the account that operates the server. */
  rootToken = '';
  readonly #seed: string;
  readonly #folder: string;
  readonly #clients = new Map<string, Client>();
  #startedAt = 0;
  #crash: { answers: number; kind: CrashKind } | null = null;
  /** Is called when a process of the server listens. */
  onServerStart = (): void => {};

  constructor(seed: string, { keepsTrace = false, template = null, openStorage }: WorldSettings = {}) {
    this.#seed = seed;
    this.#folder = mkdtempSync(join(MEMORY, 'switchyard-simulation-'));
    const startsAt = template?.endedAt ?? 0;
    this.scheduler = new Scheduler(
      this.#draws('ties'),
      () => isNodeBusy() || this.storage?.isBusy() === true,
      {
        ...{ keepsTrace, startsAt },
        rest: () => this.storage?.rest(),
      },
    );
    // PostgreSQL executes one statement between two events.
    if (template && !openStorage) this.scheduler.overlapMs = this.#draws('overlap').pick(OVERLAPS_MS);
    setHost({ scheduler: this.scheduler, draws: this.#draws('host') });
    this.disk = new SimulatedDisk(join(this.#folder, 'disk'), this.#draws('disk'));
    this.blobs = new MemoryBlobs(this.#draws('blobs'));
    if (template) {
      if (!openStorage) this.disk.load(template.folder);
      template.blobs.copyTo(this.blobs);
      this.accounts = template.accounts;
      this.rootToken = template.rootToken;
    }
    this.receivers = new Receivers(this.scheduler, this.#draws('receivers'));
    this.ledger = new Ledger(this.scheduler);
    this.observer = new Observer(() => this.observe());
    this.peers = new Peers({
      scheduler: this.scheduler,
      createDraws: (purpose) => this.#draws(purpose),
      report: (promise, detail) => this.ledger.report(promise, detail),
      hasJumped: () => this.faults.has('moveClock'),
      findAccount: (index) => this.accounts[index]?.id ?? '',
      startWorker: (settings, onEnd) => this.addWorker(settings, onEnd),
    });
    const createServerParts = (name: string): Omit<ServerParts, 'disk' | 'name'> => ({
      ...{ scheduler: this.scheduler, draws: this.#draws(name), blobs: this.blobs },
      connectReceivers: (owner) => this.receivers.connect(owner),
      peers: this.peers,
      onLog: (level, message, fields) => this.ledger.noteLog(level, message, fields),
      onStart: () => this.onServerStart(),
    });
    const shared = { scheduler: this.scheduler, createServerParts, isTemplate: template === null };
    this.storage =
      openStorage?.({
        ...{ ...shared, folder: join(this.#folder, 'servers') },
        createDraws: (purpose) => this.#draws(purpose),
      }) ?? null;
    this.server =
      this.storage?.servers ?? new SimulatedServer({ ...createServerParts('server'), disk: this.disk });
    this.network = new Network(this.scheduler, this.#draws('network'), this.server);
    this.network.onAnswer = (request, response, sentAt) => {
      this.#noteAnswer(response);
      this.ledger.noteAnswer(request, response, sentAt);
    };
  }

  #draws(purpose: string): Draws {
    return new Draws(`${this.#seed} ${purpose}`);
  }

  /** Milliseconds since the load began. */
  get loadTime(): number {
    return this.scheduler.now - this.#startedAt;
  }

  /** Returns the client of an account, or of a name with another token. */
  connect(name: string, token: string): Client {
    const key = `${name} ${token}`;
    const found = this.#clients.get(key);
    if (found) return found;
    const { scheduler, network } = this;
    const client = new Client(name, token, { scheduler, network, draws: this.#draws(`client ${name}`) });
    this.#clients.set(key, client);
    return client;
  }

  /** Returns the client of an account. */
  clientOf(index: number): Client {
    const account = this.accounts[index % this.accounts.length];
    if (!account) throw new Error('The world has no accounts.');
    return this.connect(account.name, account.token);
  }

  /** Starts the server. */
  async begin(): Promise<void> {
    this.server.start();
    await this.#runUntil(() => this.server.running !== null, 60_000);
    this.#startedAt = this.scheduler.now;
  }

  /** Creates the accounts on an empty disk, and stops the server. `folder` gets its data. */
  async createTemplate(folder: string): Promise<Template> {
    await this.begin();
    let isDone = false;
    let failure: unknown = null;
    setUp((name, token) => this.connect(name, token), this.server.rootToken)
      .then((accounts) => {
        this.accounts = accounts;
      })
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => {
        isDone = true;
      });
    await this.#runUntil(() => isDone, 600_000);
    const { rootToken } = this.server;
    if (failure) throw failure;
    let hasStopped = false;
    void this.server.stop().finally(() => {
      hasStopped = true;
    });
    await this.#runUntil(() => hasStopped, 60_000);
    if (this.storage) this.storage.saveTemplate();
    else cpSync(this.disk.folder, folder, { recursive: true });
    const { blobs, accounts } = this;
    return { folder, blobs, accounts, rootToken, endedAt: this.scheduler.now };
  }

  async #runUntil(isDone: () => boolean, timeMs: number): Promise<void> {
    await this.scheduler.run({ isDone, time: this.scheduler.now + timeMs });
    if (!isDone()) throw new Error(`The setup did not end: ${this.scheduler.lastLines.slice(-5).join('')}`);
  }

  /** Returns a connection that reads the last commit. */
  observe(): ObservedConnection {
    return this.storage?.observe() ?? this.disk.observer;
  }

  /** Adds a worker and starts it. The worker of a job goes when it ends. */
  addWorker(settings: WorkerSettings, onEnd = (): void => {}): SimulatedWorker {
    const { scheduler, network } = this;
    const worker: SimulatedWorker = new SimulatedWorker(settings, {
      ...{ scheduler, network, draws: this.#draws(`worker ${settings.name}`) },
      folder: join(this.#folder, settings.name),
      onApp: (event, app) => this.ledger.noteApp(event, app),
      onEnd: () => {
        this.workers.splice(this.workers.indexOf(worker), 1);
        onEnd();
      },
    });
    this.workers.push(worker);
    this.ledger.apps.addWorker(settings);
    worker.start();
    return worker;
  }

  /** Returns one of the workers. */
  workerAt(index: number): SimulatedWorker | undefined {
    return this.workers[index % this.workers.length];
  }

  /** Kills the server process. The checks go on from what remains on its disk. */
  crashServer(kind: CrashKind): void {
    if (kind === 'power') this.ledger.apps.mayRepeat = true;
    this.server.crash(kind);
  }

  /** Ends the process of the server when it has given so many answers to changes: they have left it, and nothing else may. */
  endServerAtAnswer(answers: number, kind: CrashKind): void {
    this.#crash = { answers, kind };
  }

  #noteAnswer({ status }: WireResponse): void {
    if (!this.#crash || status >= 300 || status === 200) return;
    this.#crash.answers -= 1;
    if (this.#crash.answers > 0) return;
    const { kind } = this.#crash;
    this.#crash = null;
    this.scheduler.after(0, '', () => this.crashServer(kind));
  }

  /** Returns the attempts that a worker executes by the last commit, each as its run with its fencing token. */
  listAttempts(worker: string): string[] {
    const sql = "select id, fence from runs where status = 'running' and worker_id = ?";
    return this.observer.query(sql, worker).map(({ id, fence }) => `${id} ${fence}`);
  }

  /** Resolves after the time, by the clock of no process. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.scheduler.after(ms, '', resolve);
    });
  }

  /** Pushes an app; returns false when the server did not take it. */
  async pushApp(client: Client, application: string): Promise<boolean> {
    return pushApp(client, application, await packApp());
  }

  countFault(name: string): void {
    this.ledger.isDisturbed = true;
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
  }

  /** Ends all faults, and lets every process continue. */
  heal(): void {
    this.#crash = null;
    this.network.heal();
    this.receivers.faults = NO_RECEIVER_FAULTS;
    this.peers.heal();
    Object.assign(this.blobs, { failureRate: 0, slowness: 1 });
    Object.assign(this.disk.faults, { slowness: 1, failsSyncs: false });
    this.disk.limitGrowth(null);
    this.storage?.heal();
    this.server.continue();
    for (const worker of this.workers) worker.continue();
  }

  /** Removes the files of the world. */
  close(): void {
    this.storage?.close();
    this.disk.close();
    rmSync(this.#folder, { recursive: true, force: true });
    setHost(null);
  }
}
