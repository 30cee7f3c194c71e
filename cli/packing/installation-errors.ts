/** Turns the output of pip and uv about an installation that failed into a sentence with a remedy. Pure. */
import { formatTarget, type Target } from './target.ts';

export interface FailedInstallation {
  /** Name of the requirements, as the manifest has it. */
  name: string;
  target: Target;
  python: string;
  /** Output of the program. */
  output: string;
  /** Output of pip with `-vv`, which lists the wheels that it skipped. */
  details?: string;
}

const ERROR_LINES_MAX = 30;
const LISTED_VERSIONS_MAX = 3;
const UNREACHABLE =
  /Could not fetch URL (?!.*\b404\b)|Failed to establish a new connection|Max retries exceeded|error sending request|Failed to fetch|dns error|Could not connect|Network (access|connectivity) is disabled/;
const HASH_MISMATCH = /DO NOT MATCH THE HASHES|Hash mismatch for/;
const MISSING_PACKAGE =
  /No matching distribution found for ([A-Za-z0-9][\w.-]*)|[Bb]ecause ([A-Za-z0-9][\w.-]*?)(?:[=<>!~]\S+)? (?:has no|was not found|only has)/;
const INVALID_LINE =
  /Invalid (?:requirement|marker): ?(.*)|Couldn't parse requirement in (.*)|Unexpected '.*', expected .*: (.*)/;

/** Returns the message: one sentence about the cause and what to do, then the last lines of the program. */
export function explainFailure(failed: FailedInstallation): string {
  const lines = failed.output.trim().split('\n').slice(-ERROR_LINES_MAX);
  return `The Python packages of ${failed.name} cannot be installed: ${describeCause(failed)}\n${lines.join('\n')}`;
}

function describeCause(failed: FailedInstallation): string {
  const { name } = failed;
  const output = `${failed.output}\n${failed.details ?? ''}`;
  const invalid = INVALID_LINE.exec(output);
  if (invalid) {
    const place = (invalid[1] ?? invalid[2] ?? invalid[3] ?? '').trim();
    return `a line of ${name} is no requirement (${place}). Write a name with versions, such as numpy==2.4.6.`;
  }
  if (HASH_MISMATCH.test(output))
    return `a package differs from its hash in ${name}, so the index offers other bytes than those that you reviewed. Find out why before you change the hash.`;
  if (UNREACHABLE.test(output))
    return 'the package index cannot be reached. Check the network, HTTPS_PROXY, and PIP_INDEX_URL or UV_INDEX_URL, and push again.';
  const missing = MISSING_PACKAGE.exec(output);
  const package_ = missing?.[1] ?? missing?.[2];
  return package_ === undefined
    ? 'see the output of the program below.'
    : describeMissingPackage(package_, failed, output);
}

function describeMissingPackage(
  name: string,
  { target, python }: Pick<FailedInstallation, 'target' | 'python'>,
  output: string,
): string {
  const host = `${formatTarget(target)} with Python ${python}`;
  const offered = /\(from versions: (?!none)([^)]*)\)/.exec(output)?.[1];
  if (offered !== undefined)
    return `the requirements allow no version of ${name} that has a wheel for ${host}. These have one: ${offered}. Name one of them.`;
  const wheels = listSkippedWheels(output, name);
  const hints = [...output.matchAll(/(?:Wheels are available for|we only found wheels for) (.*)/g)].map(
    ([, hint]) => hint,
  );
  if (wheels.length === 0 && hints.length === 0 && !/has no (usable )?wheels/.test(output))
    return `the index has no package ${name} with a wheel for ${host}. Check the spelling of its name.`;
  const available = wheels.length > 0 ? formatWheels(wheels, formatTarget(target)) : hints.join('; ');
  return `${name} has no wheel for ${host}.${available === '' ? '' : ` There is: ${available}.`} Name another version or another package.`;
}

interface SkippedWheel {
  version: string;
  /** Such as `3.12`, or `3` for every version. */
  python: string;
  /** Such as `linux-arm64`. */
  platform: string;
}

/** Wheels of the package that pip found and did not use, in the order of the index. */
function listSkippedWheels(output: string, name: string): SkippedWheel[] {
  const canonical = canonicalize(name);
  const found = output.matchAll(
    /Skipping link: none of the wheel's tags .*?\/([\w.]+)-([^-/\s]+)(?:-\d[^-/\s]*)?-([\w.]+)-[\w.]+-([\w.]+)\.whl/g,
  );
  return [...found].flatMap(([, package_ = '', version = '', tag = '', platform = '']) =>
    canonicalize(package_) === canonical
      ? [
          {
            version,
            python: tag.replace(/^[a-z]+(\d)(\d*).*$/, (_, major, minor) =>
              minor ? `${major}.${minor}` : major,
            ),
            platform: nameHost(platform),
          },
        ]
      : [],
  );
}

function canonicalize(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

/** `manylinux_2_28_aarch64` → `linux-arm64` */
function nameHost(tag: string): string {
  if (tag === 'any') return 'every host';
  const system = tag.startsWith('win')
    ? 'win32'
    : tag.startsWith('macosx')
      ? 'darwin'
      : tag.startsWith('musl')
        ? 'linux-musl'
        : 'linux';
  if (/universal2/.test(tag)) return `${system}-x64 and arm64`;
  return `${system}-${/(aarch64|arm64)$/.test(tag) ? 'arm64' : /(x86_64|amd64)$/.test(tag) ? 'x64' : (tag.split('_').at(-1) ?? '')}`;
}

/** The newest versions with their versions of Python on the host, or with the hosts that have any. */
function formatWheels(wheels: readonly SkippedWheel[], host: string): string {
  const own = wheels.filter(({ platform }) => platform === host || platform === 'every host');
  const listed = Map.groupBy(own.length > 0 ? own : wheels, ({ version }) => version);
  return sortNumerically(listed.keys())
    .slice(-LISTED_VERSIONS_MAX)
    .map((version) => {
      const all = listed.get(version) ?? [];
      const hosts = sortNumerically(all.map(({ platform }) => platform)).join(', ');
      return `${version} for ${hosts} with Python ${sortNumerically(all.map(({ python }) => python)).join(', ')}`;
    })
    .join('; ');
}

/** Returns the texts without duplicates, `3.9` before `3.10`. */
function sortNumerically(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}
