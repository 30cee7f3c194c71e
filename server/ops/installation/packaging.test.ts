/** The image, the compose file and the unit in `operations/`: the server reads their settings, and their files exist. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../platform/config.ts';

const repository = join(import.meta.dirname, '..', '..', '..');
const operations = join(repository, 'operations');
const read = (...path: string[]): string => readFileSync(join(operations, ...path), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'switchyard-packaging-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The path in the image of a path in the repository. */
const toRepository = (path: string): string => path.replace('/opt/switchyard', repository);

describe('the Dockerfile', () => {
  const stages = read('container', 'Dockerfile').split(/^FROM /m);
  const last = stages.at(-1) ?? '';
  const find = (pattern: RegExp): string => pattern.exec(last)?.[1] ?? '';

  test('starts the server as a numbered user that is not root, with its data in a volume', () => {
    expect(stages).toHaveLength(3);
    expect(Number(find(/^USER (\d+):\d+$/m))).toBeGreaterThan(0);
    const variables = [...last.matchAll(/(SWITCHYARD_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]);
    expect(readConfig(Object.fromEntries(variables))).toMatchObject({
      host: '0.0.0.0',
      port: Number(find(/^EXPOSE (\d+)$/m)),
      data: find(/^VOLUME (\S+)$/m),
    });
  });

  test('names files that exist', () => {
    const commands = [find(/^ENTRYPOINT (\[.*\])$/m), find(/^HEALTHCHECK .*\\\n {2}CMD (\[.*\])$/m)];
    const paths = commands.flatMap((text): string[] => JSON.parse(text));
    const own = paths.filter((path) => path.startsWith('/opt/switchyard/'));
    expect(own).toHaveLength(4);
    for (const path of own) expect(existsSync(toRepository(path)), path).toBe(true);
  });
});

describe('the health check of the image', () => {
  const script = join(operations, 'container', 'check-health.mjs');
  const check = async (port: number): Promise<number> => {
    const child = spawn(process.execPath, [script], {
      env: { SWITCHYARD_PORT: String(port) },
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    return code;
  };

  test('passes for a healthy server alone', async () => {
    let status = 200;
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/healthz' ? status : 404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await check(port)).toBe(0);
    status = 503;
    expect(await check(port)).toBe(1);
    server.close();
    await once(server, 'close');
    expect(await check(port)).toBe(1);
  });
});

test('the compose file gives the server its database and its bucket', () => {
  const { services, volumes } = parse(read('container', 'compose.yaml'));
  const environment: Record<string, string> = services.server.environment;
  const values = Object.entries(environment).map(([name, text]) => [
    name,
    text
      .replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, variable) => `value-of-${variable}`)
      .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
  ]);
  expect(readConfig(Object.fromEntries(values))).toMatchObject({
    postgres: 'postgres://switchyard:value-of-POSTGRES_PASSWORD@database:5432/switchyard',
    s3: { credentials: { accessKeyId: 'switchyard', secretAccessKey: 'value-of-S3_SECRET_KEY' } },
  });
  expect(Object.keys(services.server.depends_on)).toEqual(['database', 'storage-bucket']);
  const mounted = Object.values<{ volumes?: string[] }>(services).flatMap((one) => one.volumes ?? []);
  expect(mounted.map((text) => text.split(':')[0]).sort()).toEqual(Object.keys(volumes).sort());
  // A password in the file would be the same everywhere.
  expect(read('container', 'compose.yaml')).not.toMatch(/PASSWORD: (?!\$)/);
  expect(services.server.ports).toEqual(['127.0.0.1:8080:8080']);
  // The file with the passwords is beside the compose file, in the folder that the image is built from.
  expect(readFileSync(join(repository, '.dockerignore'), 'utf8').split('\n')).toContain('**/.env');
  expect(readFileSync(join(repository, '.gitignore'), 'utf8').split('\n')).toContain('.env');
});

test('the compose file and the page allow the sandbox of apps the same', () => {
  const page = readFileSync(join(repository, 'site/content/using-switchyard/setup/install.md'), 'utf8');
  const options = [...page.matchAll(/--security-opt (\S+)/g)].map(([, option]) => option);
  // With hidden paths in /proc, the kernel refuses a sandbox its own /proc.
  expect(options).toEqual(['seccomp=unconfined', 'apparmor=unconfined', 'systempaths=unconfined']);
  expect(parse(read('container', 'compose.yaml')).services.server.security_opt).toEqual(options);
});

test('systemd accepts the unit', (context) => {
  if (spawnSync('systemd-analyze', ['--version']).status !== 0)
    return context.skip('SKIPPING the check of the unit: this machine has no systemd-analyze.');
  const unit = join(folder, 'switchyard.service');
  // The command has to exist, and the unit names a folder without a space.
  const installed = join(folder, 'installed');
  symlinkSync(repository, installed);
  writeFileSync(unit, read('systemd', 'switchyard.service').replaceAll('/srv/switchyard', installed));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
});
