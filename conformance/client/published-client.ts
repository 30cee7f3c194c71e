/**
 * The published Python client of the API and its command line, as separate programs. Their results from the server's
 * responses prove that they work with it unchanged. They have a temporary home folder, so that no setting of the user
 * reaches them.
 *
 * The command line of this version accepts no URL with a scheme. It always uses HTTPS for the address in its settings,
 * and fails if an address in the environment has a scheme. It therefore gets the same as in production: a TLS endpoint
 * before the server, with a certificate of a temporary authority.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { installPythonPackage, type PythonPackage } from '../../server/testing/python/python-package.ts';
import type { TestServer } from '../../server/testing/servers/test-server.ts';

/** Settings for the access to a package index; a push with requirements needs it. */
const INDEX_SETTINGS = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(SSL_CERT_(FILE|DIR)|UV_.*|HTTPS_PROXY|NO_PROXY)$/.test(name),
  ),
);

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

interface CommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The installed client and its command line. */
export interface PublishedClient {
  /** Runs one part of a driver, a Python program that prints one JSON value. Throws with its stderr when it fails. */
  runDriver(server: TestServer, driver: string, part: string): Promise<unknown>;
  /** Runs the command line of the client. */
  runCommand(server: TestServer, args: readonly string[], cwd?: string): Promise<CommandResult>;
}

/** Returns the client, or the reason why it cannot be installed here. */
export async function openPublishedClient(): Promise<PublishedClient | string> {
  try {
    return createPublishedClient(await installPythonPackage('nextmv'));
  } catch (error) {
    return (error as Error).message;
  }
}

function createPublishedClient(installed: PythonPackage): PublishedClient {
  return {
    async runDriver(server, driver, part) {
      const env = { NEXTMV_ENDPOINT: server.url, NEXTMV_API_KEY: server.token };
      const {
        exitCode: code,
        stdout,
        stderr,
      } = await withTemporaryHome((home) =>
        runProgram(installed.interpreterPath, [driver, part], home, { ...env, HOME: home, TMPDIR: home }),
      );
      if (code !== 0) throw new Error(`${part} exited with ${code}: ${stderr}`);
      return JSON.parse(stdout) as unknown;
    },
    runCommand: (server, args, cwd) =>
      withTemporaryHome(async (home) => {
        await using front = await startTlsProxy(server, installed, home);
        mkdirSync(join(home, '.nextmv'));
        const settings = `apikey: ${server.token}\nendpoint: 127.0.0.1:${front.port}\n`;
        writeFileSync(join(home, '.nextmv', 'config.yaml'), settings);
        const env = { HOME: home, TMPDIR: home, REQUESTS_CA_BUNDLE: front.authority };
        return await runProgram(installed.commandPath('nextmv'), args, cwd ?? home, env);
      }),
  };
}

async function withTemporaryHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'switchyard-client-'));
  try {
    return await work(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Starts a TLS endpoint that forwards every connection to the server. */
async function startTlsProxy(server: TestServer, installed: PythonPackage, home: string) {
  const made = await runProgram(
    installed.interpreterPath,
    ['-m', 'trustme', '-q', '-d', home, '-i', '127.0.0.1'],
    home,
    {},
  );
  if (made.exitCode !== 0) throw new Error(`trustme cannot create a certificate: ${made.stderr}`);
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

function runProgram(
  file: string,
  args: readonly string[],
  cwd: string,
  settings: Record<string, string>,
): Promise<CommandResult> {
  const env = {
    PATH: process.env.PATH,
    NO_COLOR: '1',
    COLUMNS: '200',
    // The drivers import driver_setup.py from the work tree, which must stay clean.
    PYTHONDONTWRITEBYTECODE: '1',
    ...INDEX_SETTINGS,
    ...settings,
  };
  return new Promise((resolve) => {
    const options = { env, cwd, maxBuffer: OUTPUT_BYTES_MAX };
    const child = execFile(file, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ exitCode: code, stdout, stderr: stderr || (error?.message ?? '') });
    });
    child.stdin?.end();
  });
}
