/**
 * Finds compiled files of an executable that cannot work on this host, so that a push is rejected with a remedy instead
 * of a run failing deep in a library. Pure.
 */
import { posix } from 'node:path';
import type { ExecutableType, Host } from '../types.ts';
import type { ArchiveContents } from './archive.ts';
import { matchesHost, type ProgramFormat } from './program-format.ts';

const PACKAGES_FOLDER = '.nextmv/python/deps/';
/** `numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so` → 3, 11 */
const PYTHON_TAG = /\.cpython-(\d)(\d+)[a-z]*-[^/]*\.so$/;
const SHARED_OBJECT = /\.(so(\.[\d.]+)?|dylib)$/;

type HostPlatform = Pick<Host, 'platform' | 'architecture' | 'runtimes'>;

/** The part of an executable that the check needs. */
interface CheckedExecutable {
  type: ExecutableType;
  /** Relative to the root or to the working directory; `main` when absent. */
  entrypoint?: string;
  workingDirectory?: string;
  contents: Pick<ArchiveContents, 'files' | 'programs'>;
}

/** Returns the sentence that rejects the executable; undefined when it fits the host. */
export function describeForeignProgram(
  executable: CheckedExecutable,
  host: HostPlatform,
): string | undefined {
  const { type, contents } = executable;
  if (type === 'go' || type === 'binary') return describeForeignEntryPoint(executable, host);
  if (type !== 'python') return undefined;
  return describeForeignPackage(contents.programs, host) ?? describeForeignPython(contents.files, host);
}

function describeForeignEntryPoint(executable: CheckedExecutable, host: HostPlatform): string | undefined {
  const entry = posix.normalize(executable.entrypoint ?? 'main');
  const inWorkingDirectory = posix.join(executable.workingDirectory ?? '', entry);
  const { programs } = executable.contents;
  const format = programs.get(entry) ?? programs.get(inWorkingDirectory);
  if (format === undefined || matchesHost(format, host)) return undefined;
  const variables = `GOOS: ${host.platform} and GOARCH: ${toGoArchitecture(host.architecture)}`;
  return `The entry point "${entry}" is built for ${formatPlatform(format)}, and this server runs ${formatPlatform(host)}. Build it for ${formatPlatform(host)} and push again; for Go, set ${variables} under build.environment in app.yaml.`;
}

/** A package may contain files for several hosts; it is foreign when none of its shared objects is for this host. */
function describeForeignPackage(
  programs: ArchiveContents['programs'],
  host: HostPlatform,
): string | undefined {
  const foreign = new Map<string, { path: string; format: ProgramFormat }>();
  const matching = new Set<string>();
  for (const [path, format] of programs) {
    if (!path.startsWith(PACKAGES_FOLDER) || !SHARED_OBJECT.test(path)) continue;
    const name = getPackageName(path);
    if (matchesHost(format, host)) matching.add(name);
    else if (!foreign.has(name)) foreign.set(name, { path, format });
  }
  const found = [...foreign].find(([name]) => !matching.has(name));
  if (!found) return undefined;
  const [name, { path, format }] = found;
  const remedy =
    format.platform === host.platform
      ? `Set python.arch: ${toGoArchitecture(host.architecture)} in app.yaml and push again.`
      : `Install the packages for ${formatPlatform(host)} and push again; npm run push does both.`;
  return `The Python package "${name}" is built for ${formatPlatform(format)} ("${path}"), and this server runs ${formatPlatform(host)}. ${remedy}`;
}

function describeForeignPython(files: readonly string[], host: HostPlatform): string | undefined {
  const hostVersion = /^(\d+)\.(\d+)/.exec(host.runtimes.python?.version ?? '');
  if (!hostVersion) return undefined;
  const version = `${hostVersion[1]}.${hostVersion[2]}`;
  const foreign = new Map<string, { path: string; version: string }>();
  const matching = new Set<string>();
  for (const path of files) {
    const tag = path.startsWith(PACKAGES_FOLDER) ? PYTHON_TAG.exec(path) : null;
    if (!tag) continue;
    const name = getPackageName(path);
    const built = `${tag[1]}.${tag[2]}`;
    if (built === version) matching.add(name);
    else if (!foreign.has(name)) foreign.set(name, { path, version: built });
  }
  const found = [...foreign].find(([name]) => !matching.has(name));
  if (!found) return undefined;
  const [name, { path, version: built }] = found;
  return `The Python package "${name}" is compiled for Python ${built} ("${path}"), and this server runs Python ${host.runtimes.python?.version}. Set python.version: "${version}" in app.yaml and push again.`;
}

/** `.nextmv/python/deps/numpy/_core/x.so` and `.nextmv/python/deps/numpy.libs/y.so` → `numpy` */
function getPackageName(path: string): string {
  return path.slice(PACKAGES_FOLDER.length).split(/[/.]/, 1)[0] ?? '';
}

function formatPlatform(host: { platform: string; architecture: string }): string {
  return `${host.platform}-${host.architecture}`;
}

/** As Go and the manifest name it. */
function toGoArchitecture(architecture: string): string {
  return architecture === 'x64' ? 'amd64' : architecture;
}
