/**
 * The published Python client of the API and its command line, as separate programs. Their results from the server's
 * responses prove that they work with it unchanged. They have a temporary home folder, so that no setting of the user
 * reaches them.
 *
 * The command line of this version accepts no URL with a scheme. It always uses HTTPS for the address in its settings,
 * and fails if an address in the environment has a scheme. A server with TLS gets its requests directly; before any other
 * one there is a TLS endpoint with a certificate of a temporary authority.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';
import { findAuthorityPath } from '../../server/platform/tls/self-signed.ts';
import { installPythonPackage, type PythonPackage } from '../../server/testing/python/python-package.ts';
import type { TestServer } from '../../server/testing/servers/test-server.ts';

/** Settings for the access to a package index; a push with requirements needs it. */
const INDEX_SETTINGS = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(SSL_CERT_(FILE|DIR)|UV_.*|HTTPS_PROXY|NO_PROXY)$/.test(name),
  ),
);

/** Environment of every program; without PYTHONDONTWRITEBYTECODE, which costs a second of compilation per start. */
const ENVIRONMENT = { PATH: process.env.PATH, NO_COLOR: '1', COLUMNS: '200', ...INDEX_SETTINGS };

const SESSION_PATH = join(import.meta.dirname, 'client-session.py');

interface CommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The installed client and its command line. */
export interface PublishedClient {
  /** The installed Python package. */
  readonly installed: PythonPackage;
  /** Starts a process that imports the client once, for programs that use it with the server one after another. */
  startSession(server: TestServer): ClientSession;
}

/** Runs programs of the client. Each is a process of its own, forked after the import of the client. */
export interface ClientSession extends AsyncDisposable {
  /**
   * Runs one part of a driver, a Python program that prints one JSON value, with the token of the server unless another
   * is given. Throws with its stderr when it fails.
   */
  runDriver(driver: string, part: string, token?: string): Promise<unknown>;
  /** Runs the command line of the client, with the root key of the server unless it keeps the settings of earlier commands. */
  runCommand(
    args: readonly string[],
    cwd?: string,
    options?: { keepsSettings: boolean; env: Record<string, string> },
  ): Promise<CommandResult>;
  /** Returns the TLS address of the server, without a scheme. */
  readEndpoint(): Promise<string>;
}

/** Returns the client, or the reason why it cannot be installed here. */
export async function openPublishedClient(): Promise<PublishedClient | string> {
  try {
    const installed = await installPythonPackage('nextmv');
    return { installed, startSession: (server) => startSession(server, installed) };
  } catch (error) {
    return (error as Error).message;
  }
}

function startSession(server: TestServer, installed: PythonPackage): ClientSession {
  const home = mkdtempSync(join(tmpdir(), 'switchyard-client-'));
  const programs = startPrograms(installed, home);
  let proxy: ReturnType<typeof startTlsProxy> | undefined;
  const isSecure = server.url.startsWith('https:');
  const authorityPath = findAuthorityPath(server.dataFolder);
  const openEndpoint = async (): Promise<{ port: number; authority: string }> => {
    if (isSecure) return { port: Number(new URL(server.url).port), authority: authorityPath };
    proxy ??= startTlsProxy(server, installed, home);
    return proxy;
  };
  return {
    async runDriver(driver, part, token = server.token) {
      const { exitCode, stdout, stderr } = await programs.run([driver, part], home, {
        NEXTMV_ENDPOINT: server.url,
        NEXTMV_API_KEY: token,
        ...(isSecure ? { REQUESTS_CA_BUNDLE: authorityPath } : {}),
      });
      if (exitCode !== 0) throw new Error(`${part} exited with ${exitCode}: ${stderr}`);
      return JSON.parse(stdout) as unknown;
    },
    async readEndpoint() {
      return `127.0.0.1:${(await openEndpoint()).port}`;
    },
    async runCommand(args, cwd = home, { keepsSettings, env } = { keepsSettings: false, env: {} }) {
      const { port, authority } = await openEndpoint();
      mkdirSync(join(home, '.nextmv'), { recursive: true });
      const settings = `apikey: ${server.token}\nendpoint: 127.0.0.1:${port}\n`;
      if (!keepsSettings) writeFileSync(join(home, '.nextmv', 'config.yaml'), settings);
      return await programs.run([installed.commandPath('nextmv'), ...args], cwd, {
        REQUESTS_CA_BUNDLE: authority,
        ...env,
      });
    },
    async [Symbol.asyncDispose]() {
      await programs.close();
      await (await proxy)?.[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Starts the process that imports the client and forks for each program. Its environment is temporary, as its home. */
function startPrograms(installed: PythonPackage, home: string) {
  const [stdout = '', stderr = ''] = ['stdout', 'stderr'].map((name) => join(home, name));
  const child = spawn(installed.interpreterPath, [SESSION_PATH], {
    env: { ...ENVIRONMENT, HOME: home, TMPDIR: home },
    cwd: home,
    stdio: ['pipe', 'pipe', 'inherit'],
    // Its own process group, so that a program that hangs ends with it.
    detached: true,
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(args: readonly string[], cwd: string, env: Record<string, string>): Promise<CommandResult> {
      child.stdin.write(`${JSON.stringify({ args, cwd, env, stdout, stderr })}\n`);
      const { done, value } = await lines.next();
      if (done) throw new Error(`The session of the Python client ended before ${args.join(' ')}.`);
      const [output = '', errors = ''] = [stdout, stderr].map((path) => readFileSync(path, 'utf8'));
      return { exitCode: Number(value), stdout: output, stderr: errors };
    },
    async close(): Promise<void> {
      const isAlive = child.exitCode === null && child.signalCode === null;
      if (child.pid !== undefined && isAlive) process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
  };
}

/** Starts a TLS endpoint that forwards every connection to the server. */
async function startTlsProxy(server: TestServer, installed: PythonPackage, home: string) {
  const args = ['-m', 'trustme', '-q', '-d', home, '-i', '127.0.0.1'];
  await promisify(execFile)(installed.interpreterPath, args, { env: ENVIRONMENT });
  const { hostname, port } = new URL(server.url);
  const [key, cert] = ['server.key', 'server.pem'].map((name) => readFileSync(join(home, name)));
  const front = createServer({ key, cert }, (socket) => {
    const behind = connect(Number(port), hostname);
    for (const one of [socket, behind]) one.on('error', () => one.destroy());
    socket.pipe(behind).pipe(socket);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  return {
    port: (front.address() as AddressInfo).port,
    authority: join(home, 'client.pem'),
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => front.close(resolve));
    },
  };
}
