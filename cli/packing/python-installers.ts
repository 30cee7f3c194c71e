/**
 * Installs Python packages for the server's host: with uv, which resolves for any system and version of Python, or with pip.
 * Pip selects wheels for another host, but evaluates conditions such as `sys_platform` for its own. So the result is
 * compared with the conditions of the server.
 */
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ReportLine } from './build-steps.ts';
import { explainFailure } from './installation-errors.ts';
import type { Requirements } from './python-requirements.ts';
import { runProgram } from './run-program.ts';
import { formatTarget, type Target } from './target.ts';

/**
 * Variables that uv and pip get. They replace variables in requirements, so a secret of the user could become part of an
 * address that the author of the app chose. The settings of an index are PIP_* and UV_*.
 */
const INSTALLER_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|LANG|TZ|TMPDIR|TEMP|TMP|NETRC|VIRTUAL_ENV|CONDA_PREFIX|SSH_AUTH_SOCK|CC|CXX|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMDATA|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|(HTTPS?|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE|(PIP|UV|LC|XDG|PYTHON|PYENV)\w*|(C|CPP|CXX|LD)FLAGS)$/i;

const INSTALL_MS_MAX = 15 * 60_000;
const PROBE_MS_MAX = 20_000;
/** The newest glibc of wheels that are installed, as in the published client. */
const GLIBC_MINOR_MAX = 34;
const GLIBC_MINOR_MIN = 5;
const PROGRESS = /^\s*((Collecting|Downloading|Building|Resolved|Prepared|Installed) .*)$/;

/** One installation: where the packages go, and for which host. */
interface Installation {
  requirements: Requirements;
  /** Folder of the app, in which relative paths of the requirements start. */
  folder: string;
  /** Folder for files of the installer. */
  scratch: string;
  /** Folder that receives the packages. */
  place: string;
  target: Target;
  python: string;
}

export interface Installer {
  name: 'uv' | 'pip';
  install(installation: Installation, report: ReportLine): Promise<void>;
}

/** Finds uv or pip. Throws with what to install when there is neither. */
export async function findInstaller(name: string): Promise<Installer> {
  const uv = await firstThatWorks([['uv'], ['python3', '-m', 'uv'], ['python', '-m', 'uv']]);
  if (uv) return { name: 'uv', install: (installation, report) => installWithUv(uv, installation, report) };
  const pip = await firstThatWorks([
    ['python3', '-m', 'pip'],
    ['python', '-m', 'pip'],
  ]);
  if (pip)
    return { name: 'pip', install: (installation, report) => installWithPip(pip, installation, report) };
  throw new Error(
    `The app needs the Python packages of ${name}, and this machine has neither uv nor Python with pip to get them. Install uv (\`python3 -m pip install uv\`, or see https://docs.astral.sh/uv/) and push again, or remove python.pip-requirements if the app needs no packages.`,
  );
}

async function installWithUv(uv: string[], installation: Installation, report: ReportLine): Promise<void> {
  const { requirements, scratch, target, python } = installation;
  const machine = nameMachine(target);
  const platform =
    target.platform === 'darwin' ? `${machine}-apple-darwin` : `${machine}-manylinux_2_${GLIBC_MINOR_MAX}`;
  const file = requirements.path ?? (await writeRequirements(scratch, requirements.text));
  const requested = ['--python-platform', platform, '--python-version', python, '--no-progress'];
  const { code, output } = await install([...uv, 'pip', 'install', ...requested], file, installation, report);
  if (code !== 0) throw new Error(explainFailure({ name: requirements.name, target, python, output }));
}

async function installWithPip(pip: string[], installation: Installation, report: ReportLine): Promise<void> {
  const { requirements, scratch, target, python } = installation;
  const { path } = requirements;
  const interpreter = pip[0] ?? '';
  const isProject = path !== undefined && basename(path) === 'pyproject.toml';
  const text = isProject ? await readProjectDependencies(interpreter, path) : requirements.text;
  const file = path === undefined || isProject ? await writeRequirements(scratch, text) : path;
  const isOwn =
    process.platform === target.platform &&
    process.arch === target.architecture &&
    (await readPythonVersion(interpreter)) === python;
  if (!isOwn && requirements.hasSources)
    throw new Error(
      `${requirements.name} names a path or an address, which pip can build only for this machine (${process.platform}-${process.arch}), and the server runs ${formatTarget(target)} with Python ${python}. Install uv and push again, or name packages that have wheels.`,
    );
  const quiet = ['--no-compile', '--disable-pip-version-check', '--no-input', '--progress-bar', 'off'];
  const command = [...pip, 'install', ...quiet, ...(isOwn ? [] : listPipTags(target, python))];
  const { code, output } = await install(command, file, installation, report);
  const failed = { name: requirements.name, target, python, output };
  if (output.includes('No matching distribution found')) {
    // Only the detailed output names the wheels that exist for other hosts.
    const again = await install([...command, '-vv'], file, installation, () => {});
    if (again.code !== 0) throw new Error(explainFailure({ ...failed, details: again.output }));
  } else if (code !== 0) throw new Error(explainFailure(failed));
  if (!isOwn) await checkConditions(interpreter, text, installation);
}

/** Runs an installer. The requirements come from a file, so that no name can be an option or a command of a shell. */
async function install(
  command: readonly string[],
  file: string,
  { requirements, folder, place }: Installation,
  report: ReportLine,
): Promise<{ code: number; output: string }> {
  // Wheels only: a package built here is built for this machine. Explicitly named sources have to be built.
  const wheels = requirements.hasSources ? [] : ['--only-binary', ':all:'];
  return await runProgram([...command, ...wheels, '--target', place, '-r', file], {
    cwd: folder,
    timeoutMs: INSTALL_MS_MAX,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => INSTALLER_VARIABLES.test(name))),
    onLine: (line) => {
      const progress = PROGRESS.exec(line);
      if (progress?.[1] !== undefined) report(`  ${progress[1]}`);
    },
  });
}

/** As Python names it. */
function nameMachine(target: Target): string {
  if (target.architecture === 'x64') return 'x86_64';
  return target.platform === 'darwin' ? 'arm64' : 'aarch64';
}

/** Options by which pip selects wheels for another host. It takes a wheel of an older glibc only if its tag is listed. */
function listPipTags(target: Target, python: string): string[] {
  const machine = nameMachine(target);
  const tags =
    target.platform === 'darwin'
      ? [`macosx_14_0_${machine}`, `macosx_11_0_${machine}`, 'macosx_11_0_universal2']
      : [
          ...Array.from(
            { length: GLIBC_MINOR_MAX - GLIBC_MINOR_MIN + 1 },
            (_, index) => `manylinux_2_${GLIBC_MINOR_MAX - index}_${machine}`,
          ),
          `manylinux2014_${machine}`,
          `linux_${machine}`,
        ];
  const platforms = tags.flatMap((tag) => ['--platform', tag]);
  return [...platforms, '--python-version', python, '--implementation', 'cp'];
}

/** Prints the requirements that hold on the target and are not installed, one a line. */
const LIST_MISSING = `
import importlib.metadata, json, sys
from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
from pip._vendor.packaging.utils import canonicalize_name
place, target, text = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
installed = {canonicalize_name(one.metadata["Name"]): one for one in importlib.metadata.distributions(path=[place])}
lines = [*text.split("\\n"), *(line for one in installed.values() for line in one.requires or [])]
missing = set()
for line in lines:
    try:
        requirement = Requirement(line.split(" --hash")[0])
    except InvalidRequirement:
        continue
    holds = requirement.marker is None or requirement.marker.evaluate({**target, "extra": ""})
    if holds and canonicalize_name(requirement.name) not in installed:
        missing.add(f"{requirement.name}{requirement.specifier}")
print("\\n".join(sorted(missing)))
`;

/** Throws when a condition such as `sys_platform == "linux"` holds on the server only, so that pip left a package out. */
async function checkConditions(interpreter: string, text: string, installation: Installation): Promise<void> {
  const { requirements, place, target, python } = installation;
  const environment = {
    sys_platform: target.platform,
    platform_system: target.platform === 'darwin' ? 'Darwin' : 'Linux',
    os_name: 'posix',
    platform_machine: nameMachine(target),
    python_version: python,
    python_full_version: `${python}.0`,
  };
  const command = [interpreter, '-c', LIST_MISSING, place, JSON.stringify(environment), text];
  const { code, output } = await runProgram(command, { cwd: '/', timeoutMs: PROBE_MS_MAX });
  const missing = output.trim();
  if (code !== 0) throw new Error(`The conditions of the installed packages cannot be read: ${missing}`);
  if (missing !== '')
    throw new Error(
      `The server (${formatTarget(target)} with Python ${python}) also needs ${missing.replaceAll('\n', ', ')}, which pip leaves out on this machine. Add it to ${requirements.name}, or install uv, and push again.`,
    );
}

const PROJECT_DEPENDENCIES = `
import sys
try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib
with open(sys.argv[1], "rb") as file:
    print("\\n".join(tomllib.load(file)["project"]["dependencies"]))
`;

async function readProjectDependencies(interpreter: string, path: string): Promise<string> {
  const command = [interpreter, '-c', PROJECT_DEPENDENCIES, path];
  const { code, output } = await runProgram(command, { cwd: '/', timeoutMs: PROBE_MS_MAX });
  if (code === 0) return output;
  throw new Error(
    `${path} has no list project.dependencies that can be read: ${output.trim().split('\n').at(-1)}`,
  );
}

async function readPythonVersion(interpreter: string): Promise<string> {
  const program = 'import sys; print("%d.%d" % sys.version_info[:2])';
  const probe = await runProgram([interpreter, '-c', program], { cwd: '/', timeoutMs: PROBE_MS_MAX });
  return probe.output.trim();
}

async function writeRequirements(scratch: string, text: string): Promise<string> {
  const file = join(scratch, 'requirements.txt');
  await writeFile(file, text);
  return file;
}

async function firstThatWorks(commands: string[][]): Promise<string[] | undefined> {
  for (const command of commands) {
    const { code } = await runProgram([...command, '--version'], { cwd: '/', timeoutMs: PROBE_MS_MAX });
    if (code === 0) return command;
  }
  return undefined;
}
