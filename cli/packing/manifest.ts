/** Reads the part of an app's `app.yaml` that matters before the push. Throws with a sentence for a field that is wrong. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXECUTABLE_TYPES, type ExecutableType } from '@switchyard/contract/applications/executables.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { parse, YAMLParseError } from 'yaml';
import { CommandError } from '../errors/command-error.ts';

export interface AppManifest {
  type: ExecutableType;
  runtime: string;
  /** Patterns, applied in order; one that begins with `!` removes files. */
  files: string[];
  build?: { command: string; environment: Record<string, string> };
  prePush?: string;
  python?: PythonSettings;
}

export interface PythonSettings {
  /** Path of a requirements file or a pyproject.toml, relative to the app's folder, or the requirements themselves. */
  requirements: string | string[];
  arch?: 'arm64' | 'amd64';
  /** Such as `3.11`. */
  version?: string;
}

export const MANIFEST_FILE_NAME = 'app.yaml';

export function readAppManifest(folder: string): AppManifest {
  const path = join(folder, MANIFEST_FILE_NAME);
  if (!existsSync(path))
    throw new CommandError(
      `${folder} has no ${MANIFEST_FILE_NAME}; it must be the folder of a decision app.`,
    );
  const fields = parseManifest(path);
  if (!isRecord(fields)) throw new CommandError(`${path} must be a map of fields.`);
  const { type, runtime, files } = fields;
  const known = EXECUTABLE_TYPES.find((one) => one === type);
  if (known === undefined)
    throw new CommandError(
      `${path} has the type ${JSON.stringify(type)}; it must be one of ${EXECUTABLE_TYPES.join(', ')}.`,
    );
  if (typeof runtime !== 'string')
    throw new CommandError(`${path} has no runtime; it must be a name such as node:26.`);
  if (!Array.isArray(files) || files.length === 0)
    throw new CommandError(`${path} has no files; it must list at least one pattern.`);
  const manifest: AppManifest = { type: known, runtime, files: files.map(String) };
  const build = readBuild(path, fields.build);
  if (build) manifest.build = build;
  const prePush = fields['pre-push'];
  if (typeof prePush === 'string' && prePush !== '') manifest.prePush = prePush;
  const python = known === 'python' ? readPython(path, fields.python) : undefined;
  if (python) manifest.python = python;
  return manifest;
}

function parseManifest(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof YAMLParseError) throw new CommandError(`${path} is not YAML: ${error.message}`);
    throw error;
  }
}

function readBuild(path: string, build: unknown): AppManifest['build'] {
  if (build === undefined || build === null) return undefined;
  if (!isRecord(build))
    throw new CommandError(`build in ${path} must be a map with command and environment.`);
  const { command, environment = null } = build;
  if (command === undefined || command === null || command === '') return undefined;
  if (typeof command !== 'string')
    throw new CommandError(
      `build.command in ${path} is ${JSON.stringify(command)}; it must be a command line.`,
    );
  if (environment !== null && !isRecord(environment))
    throw new CommandError(`build.environment in ${path} must be a map of variables.`);
  const variables = Object.entries(environment ?? {}).map(([name, value]) => [name, String(value)]);
  return { command, environment: Object.fromEntries(variables) };
}

function readPython(path: string, python: unknown): PythonSettings | undefined {
  if (!isRecord(python)) return undefined;
  const requirements = python['pip-requirements'] ?? python.pip_requirements;
  if (requirements === undefined || requirements === null || requirements === '') return undefined;
  if (typeof requirements !== 'string' && !Array.isArray(requirements))
    throw new CommandError(
      `python.pip-requirements in ${path} must be a file, such as requirements.txt, or a list of requirements.`,
    );
  const settings: PythonSettings = {
    requirements: typeof requirements === 'string' ? requirements.trim() : requirements.map(String),
  };
  const { arch, version } = python;
  if (arch === 'arm64' || arch === 'amd64') settings.arch = arch;
  else if (arch !== undefined && arch !== null)
    throw new CommandError(`python.arch in ${path} is ${JSON.stringify(arch)}; it must be arm64 or amd64.`);
  if (version !== undefined && version !== null) {
    const value = String(version);
    if (!/^3\.\d+$/.test(value))
      throw new CommandError(
        `python.version in ${path} is ${JSON.stringify(version)}; it must be a version such as "3.11".`,
      );
    settings.version = value;
  }
  return settings;
}
