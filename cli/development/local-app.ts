/** Packs the app of a folder, and checks it by the rules of a push to a server on this machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Requirements } from '@switchyard/contract/applications/executables.ts';
import { convertManifest } from '@switchyard/contract/applications/manifest.ts';
import {
  describeForeignProgram,
  describeRuntimeMismatch,
  describeStartProblem,
  type Host,
  InvalidArchiveError,
  inspectArchive,
} from '@switchyard/runner';
import Value from 'typebox/value';
import { parse } from 'yaml';
import { CommandError } from '../errors/command-error.ts';
import type { ReportLine } from '../packing/build-steps.ts';
import { type AppManifest, MANIFEST_FILE_NAME } from '../packing/manifest.ts';
import { packApp } from '../packing/pack.ts';
import { readPythonVersion } from '../packing/target.ts';

export interface LocalApp {
  folder: string;
  /** SHA-256 of the archive, in hex. */
  hash: string;
  requirements: Requirements;
  /** A sentence about another version of the runtime on this machine; undefined without. */
  runtimeWarning: string | undefined;
  openArchive(): Promise<Readable>;
}

/** Packs the folder. Throws CommandError for an app that a server would refuse. */
export async function loadLocalApp(folder: string, host: Host, report: ReportLine): Promise<LocalApp> {
  const { platform, architecture, runtimes } = host;
  const target = { platform, architecture, python: readPythonVersion(runtimes) };
  const { archive, manifest } = await packApp(folder, target, report);
  const openArchive = async () => Readable.from(archive.stream());
  const contents = await inspectArchive(await openArchive()).catch(refuseArchive);
  const requirements = readRequirements(folder, manifest);
  const { executable_type: type, runtime, entrypoint, working_directory } = requirements;
  const program = {
    type,
    contents,
    ...(entrypoint ? { entrypoint } : {}),
    ...(working_directory ? { workingDirectory: working_directory } : {}),
  };
  const problem = describeStartProblem(program, contents) ?? describeForeignProgram(program, host);
  if (problem) throw new CommandError(problem);
  return {
    folder,
    hash: contents.hash,
    requirements,
    runtimeWarning: describeRuntimeMismatch(type, runtime, host),
    openArchive,
  };
}

function readRequirements(folder: string, { type, runtime }: AppManifest): Requirements {
  const path = join(folder, MANIFEST_FILE_NAME);
  const converted = convertManifest(parse(readFileSync(path, 'utf8')), { executable_type: type, runtime });
  // JSON omits undefined fields, which the schema would refuse.
  const requirements: unknown = JSON.parse(JSON.stringify(converted));
  if (Value.Check(Requirements, requirements)) return requirements;
  const [first] = Value.Errors(Requirements, requirements);
  const field = first?.instancePath.slice(1).replaceAll('/', '.') || 'configuration';
  throw new CommandError(`${path} is invalid: ${field} ${first?.message ?? 'has a wrong value'}.`);
}

function refuseArchive(error: unknown): never {
  throw error instanceof InvalidArchiveError ? new CommandError(error.message) : error;
}
