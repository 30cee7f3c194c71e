/**
 * `npm run release` makes the files of a release in the folder `release`: the server and the command line as tarballs, the
 * list of their components (SBOM, CycloneDX), the image where buildah or podman is installed, and SHA-256 checksums of all.
 * `-- --no-image` leaves the image out. The server's tarball holds the files of the last commit and what is built from them.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { buildAll, PARTS } from './build.mjs';
import { fail, install, root } from './install.mjs';

/** @type {{ version: string }} */
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const output = join(root, 'release');

install({ development: false });
buildAll();
rmSync(output, { recursive: true, force: true });
mkdirSync(output);
await packServer();
await copyFile(
  join(root, 'cli', 'dist', `switchyard-${version}.tgz`),
  join(output, `switchyard-${version}.tgz`),
);
writeComponents();
if (!process.argv.includes('--no-image')) buildImage();
await writeChecksums();
for (const name of readdirSync(output).sort()) console.log(join('release', name));

/** Packs the files of the last commit with the built site, console and command line, in the order of their names. */
async function packServer() {
  const name = `switchyard-server-${version}`;
  const scratch = mkdtempSync(join(tmpdir(), 'switchyard-release-'));
  try {
    const archive = join(scratch, 'source.tar');
    run('git', ['archive', `--prefix=${name}/`, `--output=${archive}`, 'HEAD']);
    run('tar', ['-xf', archive, '-C', scratch]);
    for (const { folder } of PARTS)
      await cp(join(root, folder, 'dist'), join(scratch, name, folder, 'dist'), { recursive: true });
    // The same commit gives the same bytes.
    const time = run('git', ['log', '-1', '--format=%cI']).trim();
    const tar = join(scratch, 'server.tar');
    const flags = ['--sort=name', `--mtime=${time}`, '--owner=0', '--group=0', '--numeric-owner'];
    run('tar', [...flags, '-cf', tar, '-C', scratch, name]);
    await pipeline(
      createReadStream(tar),
      createGzip({ level: 9 }),
      createWriteStream(join(output, `${name}.tar.gz`)),
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Writes the packages of the lock file that an installed server has, with versions, licences and checksums. */
function writeComponents() {
  const flags = ['--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only', '--sbom-type=application'];
  const components = JSON.parse(run('npm', ['sbom', ...flags]));
  // npm takes the name of the folder.
  components.metadata.component.name = 'switchyard';
  writeFileSync(join(output, `switchyard-${version}.cdx.json`), `${JSON.stringify(components, null, 2)}\n`);
}

/** Builds the image with the first of the programs that is installed, and saves it. The format of the OCI has no health check. */
function buildImage() {
  const program = ['buildah', 'podman'].find((name) => spawnSync(name, ['--version']).status === 0);
  if (program === undefined) {
    console.log('SKIPPING the image: neither buildah nor podman is installed.');
    return;
  }
  const tag = `localhost/switchyard:${version}`;
  console.log('Building the image; without a registry of images, run this with `-- --no-image` ...');
  run(
    program,
    ['build', '--format', 'docker', '--file', 'operations/container/Dockerfile', '--tag', tag, '.'],
    'inherit',
  );
  run(
    program,
    ['push', tag, `docker-archive:${join(output, `switchyard-${version}-image.tar`)}:${tag}`],
    'inherit',
  );
}

/** Writes a file that `sha256sum --check` reads. */
async function writeChecksums() {
  const lines = [];
  for (const name of readdirSync(output).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(output, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  writeFileSync(join(output, 'SHA256SUMS'), lines.join(''));
}

/**
 * Runs a program in the repository and returns its standard output.
 * @param {string} command
 * @param {string[]} args
 * @param {'pipe' | 'inherit'} stdout
 */
function run(command, args, stdout = 'pipe') {
  const { status, stdout: text } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', stdout, 'inherit'],
  });
  if (status !== 0) fail(`${command} ${args[0]} failed; see its messages above.`);
  return text ?? '';
}
