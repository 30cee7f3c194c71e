/**
 * The image: built from the Dockerfile, started as its user, and serving. It needs minutes and two gigabytes, so it runs on
 * request alone: `IMAGE=build npm test -- server/installation/image`, as root with buildah. Where no registry of images can
 * be reached, debootstrap makes the base image from the packages of Debian.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
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
import { createClient } from '@switchyard/contract/client.ts';
import { afterAll, expect, test } from 'vitest';
import { findFreePorts } from '../testing/host/free-ports.ts';

const repository = join(import.meta.dirname, '..', '..');
const DOCKERFILE = 'operations/container/Dockerfile';
const DATA = '/var/lib/switchyard';
const USER = 10001;
const IMAGE = 'localhost/switchyard:test';
const isWanted = process.env.IMAGE === 'build';
const folder = isWanted ? mkdtempSync(join(tmpdir(), 'switchyard-image-')) : '';
/** The images of this test alone, which are removed with the folder. */
const STORAGE = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
const data = join(folder, 'data');
/** Writes the id of the process that becomes the entry point. */
const WRITE_ID = `echo $$ > ${DATA}/pid; exec "$@"`;
let server: ChildProcess | undefined;

afterAll(async () => {
  if (!isWanted) return;
  if (server?.exitCode === null) {
    // buildah would kill tini, which could then not end the server.
    process.kill(Number(readFileSync(join(data, 'pid'), 'utf8')), 'SIGTERM');
    await once(server, 'exit');
  }
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
  timeout: 3_600_000,
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

  mkdirSync(data, { mode: 0o700 });
  chownSync(data, USER, USER);
  const container = await buildah('from', IMAGE);
  const [port] = await findFreePorts(1);
  const environment = ['SWITCHYARD_HOST=127.0.0.1', `SWITCHYARD_PORT=${port}`];
  const flags = [
    '--isolation',
    'chroot',
    '--volume',
    `${data}:${DATA}`,
    ...environment.flatMap((one) => ['--env', one]),
  ];
  const start = ['run', ...flags, container, '--', 'sh', '-c', WRITE_ID, 'sh', ...OCIv1.config.Entrypoint];
  server = spawn('buildah', [...STORAGE, ...start], { stdio: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  const readStatus = (path: string) =>
    fetch(`${url}${path}`).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(() => readStatus('/readyz'), { timeout: 120_000 }).toBe(200);
  await buildah('run', ...flags, container, '--', ...healthCheck);

  expect(await readStatus('/docs')).toBe(200);
  expect(await readStatus('/console')).toBe(200);
  const token = readFileSync(join(data, 'root-token'), 'utf8').trim();
  const { body } = await createClient({ url, token }).call('getAccount');
  expect(body.key.role).toBe('root');
  // No file of the server belongs to root.
  expect((await runOrFail(['find', data, '-user', 'root'])) === '').toBe(true);
});
