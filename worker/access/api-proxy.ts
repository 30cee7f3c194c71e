/**
 * The worker's side of the API proxy. It starts the process with the first run that needs it, and another one when that dies.
 * It opens and closes the access of runs.
 *
 * In a sandbox without network the app reaches the proxy by a Unix socket, to which the runner connects a port on the loopback
 * of the sandbox. Elsewhere the app uses the network of the host, so the proxy listens on a port of the host's loopback. That
 * port is open to every program of the host, and useless to one that does not know the token of the run.
 *
 * Invariant: an access keeps its socket or port until it is closed. This process holds the ports, so while a dead process is
 * replaced, no other program can listen on one and get the token of a run. Requests under way fail, and the app can repeat
 * them. A run whose access cannot be opened again ends by a host fault.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { chown, mkdir, rm } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { RUN_PROOF_HEADER } from '@switchyard/contract/run-proof-header.ts';
import type { TraceVariables } from '@switchyard/contract/workers/job-schemas.ts';
import type { RunSpec } from '@switchyard/runner';
import { computeBackoffMs } from '../backoff.ts';
import type { WorkerLog } from '../environment.ts';
import {
  type ApiTarget,
  type ProxiedAccess,
  type ProxyMessage,
  type ProxyRequest,
  SOCKET_NAME,
  SOCKETS_DESCRIPTOR,
} from './protocol.ts';

const HEAP_MIB = 192;
const FIRST_RESTART_MS = 50;
const RESTART_MS_MAX = 5_000;
/** The death of a process that lived this long is the first of its kind. */
const STABLE_AFTER_MS = 10_000;
/** A process that does not open or close an access in this time is replaced. */
const OPEN_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 3_000;
/** User ids of the process where the worker is root, none of which a run has; the first that exists here. */
const USER_IDS = [2 ** 30 - 1, 65_533];
/** Settings of the worker's certificates and addresses, which the connections to the server depend on. */
const PASSED_VARIABLES =
  /^(PATH|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_(FILE|DIR)|NODE_COMPILE_CACHE)$/;

interface ApiProxyParts {
  /** Resolves with the server once it listens; null when the worker does not know an address of it. */
  api: Promise<ApiTarget | null>;
  /** The folder of the sockets, an absolute path. */
  socketsFolder: string;
  log: WorkerLog;
}

interface AccessSettings {
  /** The run token of the attempt. */
  token: string;
  /** True for an app in a sandbox without network. */
  isIsolated: boolean;
  /** Returns the proof that requests at the endpoint come from the app of the attempt. */
  prove(endpoint: string): Promise<string>;
  /** The variables of the app's span; empty without one. */
  trace: TraceVariables;
}

/** Open access of one run. */
export interface ApiAccess {
  /** The variables that the published client reads. */
  environment: Record<string, string>;
  token: string;
  /** The port and socket for a sandbox without network. */
  forward?: NonNullable<RunSpec['forward']>;
  /** Aborted when the app has lost its access for good; the reason is a host fault. */
  lost: AbortSignal;
  /** Ends every request under way. */
  close(): Promise<void>;
}

/** The process could not open an access. The code marks it as a host fault, as a failed start of any process would be. */
class ProxyUnavailableError extends Error {
  readonly code = 'EAGAIN';
}

interface OpenAccess {
  access: ProxiedAccess;
  /** Null for the access of a sandbox without network. */
  port: ReservedPort | null;
  opened: PromiseWithResolvers<number>;
  lost: AbortController;
}

/** The API proxy of a worker. */
export class ApiProxy {
  readonly #parts: ApiProxyParts;
  readonly #accesses = new Map<string, OpenAccess>();
  readonly #closing = new Map<string, PromiseWithResolvers<void>>();
  #child: ChildProcess | undefined;
  #target: ApiTarget | null = null;
  /** The user id of the process; 0 for that of the worker. */
  #user: Promise<number> | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(parts: ApiProxyParts) {
    this.#parts = parts;
    void parts.api.then((target) => {
      this.#target = target;
      if (target) this.#send({ type: 'target', target });
    });
  }

  /** The id of the process; undefined while none runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Opens the access of the app of a run. */
  async open({ token, isIsolated, prove, trace }: AccessSettings): Promise<ApiAccess> {
    const id = randomUUID();
    const socketFolder = isIsolated ? join(this.#parts.socketsFolder, id) : null;
    const close = () => this.#close(id, socketFolder);
    const lost = new AbortController();
    try {
      if (socketFolder !== null) await this.#createFolder(socketFolder);
      const access: ProxiedAccess = {
        ...{ id, token, trace, proof: '', proofHeader: RUN_PROOF_HEADER },
        folder: isIsolated ? id : null,
      };
      const port = await this.#open(access, lost);
      const endpoint = `http://127.0.0.1:${port}`;
      access.proof = await prove(endpoint);
      this.#send({ type: 'prove', id, proof: access.proof });
      return {
        environment: { NEXTMV_API_KEY: token, NEXTMV_ENDPOINT: endpoint },
        token,
        ...(socketFolder === null ? {} : { forward: { port, socketPath: join(socketFolder, SOCKET_NAME) } }),
        lost: lost.signal,
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** Ends the process, and with it every access. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#child;
    if (!child) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGKILL');
    await exited;
  }

  /** The folder of the sockets keeps other users out, and the run's user passes through that of its socket. */
  async #createFolder(path: string): Promise<void> {
    const user = await this.#prepareUser();
    await mkdir(path, { mode: 0o711 });
    if (user !== 0) await chown(path, user, user);
  }

  /** Creates the folder of the sockets for the process; returns the user id of the process. */
  #prepareUser(): Promise<number> {
    this.#user ??= prepareFolder(this.#parts.socketsFolder);
    return this.#user;
  }

  async #open(access: ProxiedAccess, lost: AbortController): Promise<number> {
    const user = await this.#prepareUser();
    const opened = Promise.withResolvers<number>();
    const port = access.folder === null ? reservePort() : null;
    const open: OpenAccess = { access, port, opened, lost };
    this.#accesses.set(access.id, open);
    if (this.#child) this.#sendOpen(open);
    else this.#start(user);
    const timer = setTimeout(() => {
      opened.reject(new ProxyUnavailableError('The API proxy did not open the access of a run in time.'));
      this.#child?.kill('SIGKILL');
    }, OPEN_TIMEOUT_MS);
    try {
      const openedPort = await opened.promise;
      return port?.port ?? openedPort;
    } finally {
      clearTimeout(timer);
    }
  }

  async #close(id: string, socketFolder: string | null): Promise<void> {
    const port = this.#accesses.get(id)?.port;
    if (this.#accesses.delete(id) && this.#child) {
      const child = this.#child;
      const closed = Promise.withResolvers<void>();
      this.#closing.set(id, closed);
      this.#send({ type: 'close', id });
      // The end of the process closes the access as well.
      const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_TIMEOUT_MS);
      await closed.promise;
      clearTimeout(timer);
    }
    port?.close();
    if (socketFolder !== null) await rm(socketFolder, { recursive: true, force: true });
  }

  #start(user: number): void {
    const startedAt = performance.now();
    const child = startProcess(this.#parts.socketsFolder, user);
    this.#child = child;
    child.on('message', (message: ProxyMessage) => this.#receive(message));
    child.once('error', () => this.#replace(child, startedAt, 'it could not be started', user));
    child.once('exit', (code, signal) =>
      this.#replace(child, startedAt, `it ended with ${signal ?? code}`, user),
    );
    if (this.#target) this.#send({ type: 'target', target: this.#target });
    for (const open of this.#accesses.values()) this.#sendOpen(open);
  }

  /** Starts a new process after the end of one, unless no run needs it. */
  #replace(child: ChildProcess, startedAt: number, reason: string, user: number): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    for (const { resolve } of this.#closing.values()) resolve();
    this.#closing.clear();
    if (this.#isClosed) return;
    if (performance.now() - startedAt > STABLE_AFTER_MS) this.#failures = 0;
    this.#failures += 1;
    const delayMs = computeBackoffMs(this.#failures, FIRST_RESTART_MS, RESTART_MS_MAX);
    const runs = this.#accesses.size;
    this.#parts.log.error({ reason, runs, delayMs }, 'API proxy of workflows ended.');
    setTimeout(() => {
      if (!this.#isClosed && !this.#child && this.#accesses.size > 0) this.#start(user);
    }, delayMs);
  }

  #receive(message: ProxyMessage): void {
    const { id } = message;
    if (message.type === 'closed') {
      this.#closing.get(id)?.resolve();
      this.#closing.delete(id);
    }
    if (message.type === 'opened') this.#accesses.get(id)?.opened.resolve(message.port);
    if (message.type === 'failed') {
      this.#parts.log.error({ error: message.error }, 'Access of a run to the API not opened.');
      const text = `The API proxy could not open the access of the run: ${message.error}`;
      const error = new ProxyUnavailableError(text);
      const open = this.#accesses.get(id);
      open?.opened.reject(error);
      open?.lost.abort(error);
    }
  }

  #sendOpen({ access, port }: OpenAccess): void {
    this.#send({ type: 'open', access }, port?.handle);
  }

  /** Ignores a failed delivery: the end of the process reports it. */
  #send(message: ProxyRequest, handle?: unknown): void {
    const child = this.#child;
    // The types of Node know the handles of servers alone.
    if (child?.connected) Reflect.apply(child.send, child, [message, handle, () => undefined]);
  }
}

/** Creates the folder; returns the user id to which it then belongs, 0 for that of the worker. */
async function prepareFolder(path: string): Promise<number> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return 0;
  for (const user of USER_IDS) {
    const isOwned = await chown(path, user, user).then(
      () => true,
      // A user namespace, such as that of a container, may not have the id.
      () => false,
    );
    if (isOwned) return user;
  }
  return 0;
}

function startProcess(socketsFolder: string, user: number): ChildProcess {
  const folder = import.meta.dirname;
  const sockets = `/proc/self/fd/${SOCKETS_DESCRIPTOR}`;
  const readable = [folder, join(folder, '..', 'wait-for-response.ts'), sockets];
  const command = [
    ...['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MIB}`],
    ...['--permission', '--allow-net', ...readable.map((path) => `--allow-fs-read=${path}`)],
    ...[sockets, '/proc/self/oom_score_adj'].map((path) => `--allow-fs-write=${path}`),
    join(folder, 'process', `main${extname(import.meta.filename)}`),
    String(user),
  ];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_VARIABLES.test(name)));
  const descriptor = openSync(socketsFolder, 'r');
  try {
    return spawn(process.execPath, command, {
      env,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', descriptor],
    });
  } finally {
    closeSync(descriptor);
  }
}

interface ReservedPort {
  port: number;
  /** For the channel to the process that listens, as often as there is another one. */
  handle: unknown;
  close(): void;
}

interface Handle {
  getsockname(address: Partial<AddressInfo>): number;
  close(): void;
}

/**
 * Binds a free port without listening on it. A server of this process would accept connections itself, and a `BoundSocket` can
 * be sent only once; Node's cluster module shares its ports by this function.
 */
function reservePort(): ReservedPort {
  const bind: unknown = Reflect.get(net, '_createServerHandle');
  if (typeof bind !== 'function') throw new Error('This version of Node cannot reserve a port.');
  const handle: unknown = Reflect.apply(bind, net, ['127.0.0.1', 0, 4]);
  if (typeof handle === 'number') throw createError(handle);
  if (!isHandle(handle)) throw new Error('This version of Node reserves ports in another way.');
  const address: Partial<AddressInfo> = {};
  const error = handle.getsockname(address);
  if (error === 0 && address.port !== undefined)
    return { port: address.port, handle, close: () => handle.close() };
  handle.close();
  throw createError(error);
}

function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && 'getsockname' in value && 'close' in value;
}

function createError(number: number): Error {
  const code = getSystemErrorName(number);
  return Object.assign(new Error(`A port of the loopback cannot be reserved: ${code}`), { code });
}
