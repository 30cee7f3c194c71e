/** What a sandbox shows of the system: programs and libraries as they are, and a small /etc made for it. */
import { cpSync, existsSync, lstatSync, mkdirSync, readlinkSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listParentPaths } from '../archive/archive-rules.ts';

/** Name look-ups, certificates, time zone, loader cache and the settings that Java keeps here; no accounts, no keys. */
const ETC_SHOWN = [
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'nsswitch.conf',
  'hosts',
  'host.conf',
  'gai.conf',
  'protocols',
  'services',
  'resolv.conf',
  'localtime',
  'timezone',
  'mime.types',
  'alternatives',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'ca-certificates',
  'crypto-policies',
  'java-17-openjdk',
  'java-21-openjdk',
  'java-25-openjdk',
  'java',
];
/**
 * Of these, where they are folders, the system's own are shown: hundreds of small files, which took 0.4 s to copy for a new
 * scratch folder. The others are few, and a mount more is 0.13 ms of every run.
 */
const ETC_MOUNTED = ['alternatives', 'ssl/certs'];
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'];

/** Makes the small /etc in the scratch folder, anew when the system's has changed; returns bubblewrap's arguments for it and the rest. */
export async function prepareSystemMounts(
  folder: string,
): Promise<{ etcMounts: string[]; mounts: string[] }> {
  if (process.platform !== 'linux') return { etcMounts: [], mounts: [] };
  const etc = join(folder, 'etc');
  const mounts = SYSTEM.flatMap(mountOf);
  const mounted = ETC_MOUNTED.filter((name) =>
    lstatSync(join('/etc', name), { throwIfNoEntry: false })?.isDirectory(),
  );
  const etcMounts = [
    ...['--ro-bind', etc, '/etc'],
    ...mounted.flatMap((name) => ['--ro-bind-try', join('/etc', name), join('/etc', name)]),
  ];
  const stamp = JSON.stringify(
    ETC_SHOWN.map((name) => [name, statSync(join('/etc', name), { throwIfNoEntry: false })?.mtimeMs]),
  );
  if ((await readFile(`${etc}.made-of`, 'utf8').catch(() => '')) === stamp) return { etcMounts, mounts };
  await rm(etc, { recursive: true, force: true });
  await mkdir(etc, { recursive: true, mode: 0o755 });
  for (const name of ETC_SHOWN) {
    const source = join('/etc', name);
    if (!existsSync(source)) continue;
    if (mounted.includes(name)) {
      mkdirSync(join(etc, name), { recursive: true });
      continue;
    }
    try {
      // Synchronous, because it is twenty times quicker for small files, and nothing else runs yet.
      cpSync(source, join(etc, name), { recursive: true, verbatimSymlinks: true });
    } catch {
      // What we may not read ourselves is left out: apps shall not see more than we do.
    }
  }
  await rm(join(etc, 'ssl', 'private'), { recursive: true, force: true });
  await writeFile(join(etc, 'passwd'), 'root:x:0:0:root:/:/bin/false\napp:x:1000:1000:app:/tmp:/bin/sh\n');
  await writeFile(join(etc, 'group'), 'root:x:0:\napp:x:1000:\n');
  await writeFile(`${etc}.made-of`, stamp);
  return { etcMounts, mounts };
}

/** On most systems /bin is a link to usr/bin; it is made again as a link. */
function mountOf(path: string): string[] {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) return [];
  if (info.isSymbolicLink()) return ['--symlink', readlinkSync(path), path];
  return ['--ro-bind', path, path];
}

/** Shows files and folders at the paths they have; bubblewrap would make the folders above them for its own eyes only. */
export function buildReadOnlyMounts(paths: string[]): string[] {
  const above = new Set(
    paths.flatMap((path) => listParentPaths(path.slice(1)).map((parent) => `/${parent}`)),
  );
  const folders = [...above].sort().flatMap((path) => ['--perms', '0755', '--dir', path]);
  return [...folders, ...paths.flatMap((path) => ['--ro-bind', path, path])];
}
