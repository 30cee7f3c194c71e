/** Packs the app of a folder, and checks it by the rules of a push to a server on this machine. */
import { Readable } from 'node:stream';
import type { Requirements } from '@switchyard/contract/applications/executables.ts';
import { convertManifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import {
  describeForeignProgram,
  describeMissingPrograms,
  describeRuntimeMismatch,
  describeStartProblem,
  type Host,
  InvalidArchiveError,
  inspectArchive,
} from '@switchyard/runner';
import { CommandError } from '../errors/command-error.ts';
import type { ReportLine } from '../packing/build-steps.ts';
import { packApp } from '../packing/pack.ts';
import { readPythonVersion } from '../packing/target.ts';

export interface LocalApp {
  folder: string;
  /** SHA-256 of the archive, in hex. */
  hash: string;
  requirements: Requirements;
  /** Sentences about another version of the runtime on this machine, and about solvers that it lacks. */
  runtimeWarnings: string[];
  openArchive(): Promise<Readable>;
}

/** Packs the folder. Throws CommandError for an app that a server would refuse. */
export async function loadLocalApp(folder: string, host: Host, report: ReportLine): Promise<LocalApp> {
  const { platform, architecture, runtimes } = host;
  const target = { platform, architecture, python: readPythonVersion(runtimes) };
  const { archive, manifest, warnings } = await packApp(folder, target, report);
  for (const warning of warnings) report(warning);
  const openArchive = async () => Readable.from(archive.stream());
  const contents = await inspectArchive(await openArchive()).catch(refuseArchive);
  const { type, runtime } = manifest;
  const requirements = convertManifest(manifest, { executable_type: type, runtime });
  const { entrypoint, working_directory } = requirements;
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
    runtimeWarnings: [
      describeRuntimeMismatch(type, runtime, host),
      describeMissingPrograms(runtime, contents.files),
    ].filter((warning) => warning !== undefined),
    openArchive,
  };
}

function refuseArchive(error: unknown): never {
  throw error instanceof InvalidArchiveError ? new CommandError(error.message) : error;
}
