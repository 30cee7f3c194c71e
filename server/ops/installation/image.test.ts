/**
 * The image: built from the Dockerfile, started as its user, and serving, alone and with the settings of the compose file. It
 * needs minutes and two gigabytes, so it runs on request alone: `IMAGE=build npm test -- server/ops/installation/image`, as root with buildah. Where no registry of images can
 * be reached, debootstrap makes the base image from the packages of Debian.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Client, createClient } from '@switchyard/contract/client.ts';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startS3Server } from '../../platform/blobs/testing/s3-server.ts';
import { startPostgres } from '../../testing/database/postgres-server.ts';
import { createRun, nodeApp, pushApp } from '../../testing/fixtures/apps.ts';
import { findFreePorts } from '../../testing/host/free-ports.ts';
import { type RequestOptions, sendRequest } from '../../testing/http/request.ts';

const repository = join(import.meta.dirname, '..', '..', '..');
const DOCKERFILE = 'operations/container/Dockerfile';
const DATA = '/var/lib/switchyard';
const USER = 10001;
const IMAGE = 'localhost/switchyard:test';
const BUILD_MS = 3_600_000;
const isWanted = process.env.IMAGE === 'build';
const folder = isWanted ? mkdtempSync(join(tmpdir(), 'switchyard-image-')) : '';
/** The images of this test alone, which are removed with the folder. */
const STORAGE = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
/** Writes the id of the process that becomes the entry point. */
const WRITE_ID = `echo $$ > ${DATA}/pid; exec "$@"`;

interface Container {
  url: string;
  /** The folder of the host that is its data folder. */
  data: string;
  /** Runs a command in the container, beside the server. */
  execute(command: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}
const containers: Container[] = [];

afterAll(async () => {
  if (!isWanted) return;
  for (const container of containers) await container.stop();
  await run(['buildah', ...STORAGE, 'rm', '--all']);
  rmSync(folder, { recursive: true, force: true });
});

async function run(command: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await Promise.race([ended, failed]);
  return { code, stdout, stderr };
}

/** Runs a command that must succeed. Returns its standard output, without the line end. */
async function runOrFail(command: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command);
  expect({ command, code, stderr }).toEqual({ command, code: 0, stderr });
  return stdout.trim();
}
const buildah = (...args: string[]): Promise<string> => runOrFail(['buildah', ...STORAGE, ...args]);

/** Makes the two base images from packages of Debian and from the Node of this machine. Returns the arguments of the build. */
async function createBaseImages(): Promise<string[]> {
  const root = join(folder, 'debian');
  const packages = 'bubblewrap,ca-certificates,python3-minimal,tini';
  await runOrFail(['debootstrap', '--variant=minbase', `--include=${packages}`, 'bookworm', root]);
  const base = await buildah('from', 'scratch');
  await buildah('add', '--quiet', base, root, '/');
  await buildah('commit', '--quiet', base, 'localhost/debian');
  const node = await buildah('from', 'localhost/debian');
  // The Node of Debian is older than 20.
  const program = await runOrFail(['sh', '-c', 'command -v npm']);
  const npm = dirname(dirname(realpathSync(program)));
  await buildah('add', '--quiet', node, join(dirname(program), 'node'), '/usr/bin/node');
  await buildah('add', '--quiet', node, npm, '/usr/lib/node_modules/npm');
  await buildah(
    'run',
    '--isolation',
    'chroot',
    node,
    '--',
    'ln',
    '-s',
    '../lib/node_modules/npm/bin/npm-cli.js',
    '/usr/bin/npm',
  );
  await buildah('commit', '--quiet', node, 'localhost/node');
  return ['--build-arg', 'BASE_IMAGE=localhost/debian', '--build-arg', 'BUILD_IMAGE=localhost/node'];
}

/** Gives the build the registry of npm on this machine, and the authorities that this machine trusts. */
async function listNpmSettings(): Promise<string[]> {
  const read = (name: string) => runOrFail(['npm', 'config', 'get', name]);
  const [registry, npmAuthority] = await Promise.all([read('registry'), read('cafile')]);
  const authority = npmAuthority === 'null' ? process.env.NODE_EXTRA_CA_CERTS : npmAuthority;
  const settings = join(folder, 'npmrc');
  writeFileSync(settings, `registry=${registry}\n${authority ? `cafile=${authority}\n` : ''}`);
  return [
    '--volume',
    `${settings}:/root/.npmrc:ro`,
    ...(authority ? ['--volume', `${authority}:${authority}:ro`] : []),
  ];
}

test('the image starts as its user, passes its health check, and serves', {
  timeout: BUILD_MS,
}, async (context) => {
  if (!isWanted)
    return context.skip('SKIPPING the image: set IMAGE=build to build and start it, as root with buildah.');
  const isReachable =
    (await run(['buildah', ...STORAGE, 'pull', 'docker.io/library/debian:bookworm-slim'])).code === 0;
  const bases = isReachable ? [] : await createBaseImages();
  await buildah(
    'build',
    '--format',
    'docker',
    '--isolation',
    'chroot',
    ...bases,
    ...(await listNpmSettings()),
    '--file',
    DOCKERFILE,
    '--tag',
    IMAGE,
    '.',
  );

  const { OCIv1, Docker } = JSON.parse(await buildah('inspect', '--type', 'image', IMAGE));
  expect(OCIv1.config).toMatchObject({ User: `${USER}:${USER}`, Volumes: { [DATA]: {} } });
  const [, ...healthCheck]: string[] = Docker.config.Healthcheck.Test;

  const startedAt = performance.now();
  const container = await startContainer(OCIv1.config.Entrypoint, {});
  const startMs = Math.round(performance.now() - startedAt);
  const size = await buildah('images', '--format', '{{.Size}}', IMAGE);
  console.info(`The image has ${size}; a container of it is ready after ${startMs} ms.`);
  await container.execute(healthCheck);
  expect(await readStatus(`${container.url}/docs`)).toBe(200);
  expect(await readStatus(`${container.url}/console`)).toBe(200);
  const { body } = await connect(container).call('getAccount');
  expect(body.key.role).toBe('root');
  // No file of the server belongs to root.
  expect((await runOrFail(['find', container.data, '-user', 'root'])) === '').toBe(true);
  await container.stop();
});

test('a container with the settings of the compose file runs an app on PostgreSQL and S3', {
  timeout: BUILD_MS,
}, async (context) => {
  if (!isWanted) return context.skip('SKIPPING the settings of the compose file, which need the image.');
  const postgres = await startPostgres();
  const s3 = await startS3Server();
  try {
    const database = await createDatabaseOfCompose(postgres.url);
    const { OCIv1 } = JSON.parse(await buildah('inspect', '--type', 'image', IMAGE));
    const container = await startContainer(OCIv1.config.Entrypoint, {
      ...readComposeSettings({ database: new URL(database).host, storage: new URL(s3.endpoint).host }),
      ...s3.env,
    });
    const client = connect(container);
    const request = (method: string, path: string, options: RequestOptions = {}) =>
      sendRequest(`${container.url}${path}`, method, readToken(container), options);
    await pushApp({ client, request }, 'echo', nodeApp('(input) => input'));
    // Too large for a row, so it is in the bucket.
    const input = { text: 'x'.repeat(200_000) };
    const run = await createRun({ client, request }, 'echo', { input });
    const params = { application_id: 'echo', run_id: run };
    const readRun = async () => (await client.call('getRun', { params })).body;
    await expect.poll(async () => (await readRun()).status_v2).toBe('succeeded');
    expect((await readRun()).output).toEqual(input);
    expect(existsSync(join(container.data, 'blobs'))).toBe(false);
    expect(existsSync(join(container.data, 'switchyard.db'))).toBe(false);
    await container.stop();
  } finally {
    await s3.stop();
    await postgres.stop();
  }
});

const readStatus = (url: string): Promise<number> =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );

const readToken = ({ data }: Container): string => readFileSync(join(data, 'root-token'), 'utf8').trim();
const connect = (container: Container): Client =>
  createClient({ url: container.url, token: readToken(container) });

/** Starts the image with the settings, and waits until it is ready. */
async function startContainer(entrypoint: string[], settings: Record<string, string>): Promise<Container> {
  const data = join(folder, `data-${containers.length}`);
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, USER, USER);
  const name = await buildah('from', IMAGE);
  const [port] = await findFreePorts(1);
  const environment = { SWITCHYARD_HOST: '127.0.0.1', SWITCHYARD_PORT: String(port), ...settings };
  const flags = [
    '--isolation',
    'chroot',
    '--volume',
    `${data}:${DATA}`,
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
  ];
  const start = ['run', ...flags, name, '--', 'sh', '-c', WRITE_ID, 'sh', ...entrypoint];
  const server = spawn('buildah', [...STORAGE, ...start], { stdio: 'inherit' });
  const container = {
    url: `http://127.0.0.1:${port}`,
    data,
    execute: (command: readonly string[]) => buildah('run', ...flags, name, '--', ...command),
    async stop() {
      if (server.exitCode !== null) return;
      const exited = once(server, 'exit');
      // buildah would kill tini, which could then not end the server.
      process.kill(Number(readFileSync(join(data, 'pid'), 'utf8')), 'SIGTERM');
      await exited;
    },
  };
  containers.push(container);
  await expect.poll(() => readStatus(`${container.url}/readyz`), { timeout: 120_000 }).toBe(200);
  return container;
}

const PASSWORD = 'password-of-the-test';

/** Creates the user and the database that the compose file names. Returns the address of the PostgreSQL server. */
async function createDatabaseOfCompose(address: string): Promise<string> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(`create role switchyard login password '${PASSWORD}'`);
  await client.query('create database switchyard owner switchyard');
  await client.end();
  return address;
}

/** Returns the environment of the server in the compose file, with these hosts in place of those of its services. */
function readComposeSettings(hosts: { database: string; storage: string }): Record<string, string> {
  const text = readFileSync(join(repository, 'operations/container/compose.yaml'), 'utf8');
  const environment: Record<string, string> = parse(text).services.server.environment;
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value
        .replaceAll(/\$\{\w+:\?[^}]*\}/g, PASSWORD)
        .replace('database:5432', hosts.database)
        .replace('storage:9000', hosts.storage),
    ]),
  );
}
