/**
 * Finds compiled files of an executable that cannot work on this host, so that a push is refused with the way to repair
 * it instead of a run failing deep in a library. Pure.
 */
import { posix } from 'node:path';
import type { ExecutableType, Host } from '../types.ts';
import type { ArchiveContents } from './archive.ts';
import { matchesHost, type ProgramFormat } from './program-format.ts';

const PACKAGES = '.nextmv/python/deps/';
/** `numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so` → 3, 11 */
const PYTHON_TAG = /\.cpython-(\d)(\d+)[a-z]*-[^/]*\.so$/;
const SHARED_OBJECT = /\.(so(\.[\d.]+)?|dylib)$/;

type HostKind = Pick<Host, 'platform' | 'architecture' | 'runtimes'>;

export interface CheckedExecutable {
  type: ExecutableType;
  /** Relative to the root or to the working directory; `main` when absent. */
  entrypoint?: string;
  workingDirectory?: string;
  contents: Pick<ArchiveContents, 'files' | 'programs'>;
}

/** The sentence that refuses the executable; undefined when nothing in it speaks against this host. */
export function describeForeignProgram(executable: CheckedExecutable, host: HostKind): string | undefined {
  const { type, contents } = executable;
  if (type === 'go' || type === 'binary') return foreignEntry(executable, host);
  if (type !== 'python') return undefined;
  return foreignPackage(contents.programs, host) ?? foreignPython(contents.files, host);
}

function foreignEntry(executable: CheckedExecutable, host: HostKind): string | undefined {
  const entry = posix.normalize(executable.entrypoint ?? 'main');
  const below = posix.join(executable.workingDirectory ?? '', entry);
  const { programs } = executable.contents;
  const format = programs.get(entry) ?? programs.get(below);
  if (format === undefined || matchesHost(format, host)) return undefined;
  const variables = `GOOS: ${host.platform} and GOARCH: ${archOf(host.architecture)}`;
  return `The entry point "${entry}" is built for ${nameOf(format)}, and this server runs ${nameOf(host)}. Build it for ${nameOf(host)} and push again; for Go, set ${variables} under build.environment in app.yaml.`;
}

/** A package may bring files for several hosts; it is refused when it has shared objects and none of them is for this one. */
function foreignPackage(programs: ArchiveContents['programs'], host: HostKind): string | undefined {
  const foreign = new Map<string, { path: string; format: ProgramFormat }>();
  const fitting = new Set<string>();
  for (const [path, format] of programs) {
    if (!path.startsWith(PACKAGES) || !SHARED_OBJECT.test(path)) continue;
    const name = packageOf(path);
    if (matchesHost(format, host)) fitting.add(name);
    else if (!foreign.has(name)) foreign.set(name, { path, format });
  }
  const found = [...foreign].find(([name]) => !fitting.has(name));
  if (!found) return undefined;
  const [name, { path, format }] = found;
  const remedy =
    format.platform === host.platform
      ? `Set python.arch: ${archOf(host.architecture)} in app.yaml and push again.`
      : `Install the packages for ${nameOf(host)} and push again; npm run push does both.`;
  return `The Python package "${name}" is built for ${nameOf(format)} ("${path}"), and this server runs ${nameOf(host)}. ${remedy}`;
}

function foreignPython(files: readonly string[], host: HostKind): string | undefined {
  const own = /^(\d+)\.(\d+)/.exec(host.runtimes.python?.version ?? '');
  if (!own) return undefined;
  const version = `${own[1]}.${own[2]}`;
  const foreign = new Map<string, { path: string; version: string }>();
  const fitting = new Set<string>();
  for (const path of files) {
    const tag = path.startsWith(PACKAGES) ? PYTHON_TAG.exec(path) : null;
    if (!tag) continue;
    const name = packageOf(path);
    const built = `${tag[1]}.${tag[2]}`;
    if (built === version) fitting.add(name);
    else if (!foreign.has(name)) foreign.set(name, { path, version: built });
  }
  const found = [...foreign].find(([name]) => !fitting.has(name));
  if (!found) return undefined;
  const [name, { path, version: built }] = found;
  return `The Python package "${name}" is compiled for Python ${built} ("${path}"), and this server runs Python ${host.runtimes.python?.version}. Set python.version: "${version}" in app.yaml and push again.`;
}

/** `.nextmv/python/deps/numpy/_core/x.so` and `.nextmv/python/deps/numpy.libs/y.so` → `numpy` */
function packageOf(path: string): string {
  return path.slice(PACKAGES.length).split(/[/.]/, 1)[0] ?? '';
}

function nameOf(host: { platform: string; architecture: string }): string {
  return `${host.platform}-${host.architecture}`;
}

/** As Go and the manifest name it. */
function archOf(architecture: string): string {
  return architecture === 'x64' ? 'amd64' : architecture;
}
