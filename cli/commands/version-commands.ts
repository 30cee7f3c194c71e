/** Commands for versions. */
import type { ExecutableFile } from '@switchyard/contract/applications/executables.ts';
import { type FileChange, listFileChanges } from '@switchyard/contract/applications/list-file-changes.ts';
import type { Client } from '@switchyard/contract/client.ts';
import { createTwoFilesPatch } from 'diff';
import type { Session } from '../session/session.ts';
import { cleanLine, cleanText } from '../terminal/clean-text.ts';
import { age, nameUnlessId } from '../terminal/columns.ts';
import type { Style } from '../terminal/style.ts';
import { defineResource } from './resource/define-resource.ts';

export const defineVersionCommands = defineResource({
  name: 'versions',
  noun: 'version',
  text: 'List, create and compare versions.',
  list: {
    operation: 'listVersions',
    text: 'List the versions of the application, the newest first.',
    columns: {
      VERSION: 'id',
      NAME: nameUnlessId,
      EXECUTABLE: ({ executable }) => executable.id,
      CREATED: age('created_at'),
      DESCRIPTION: 'description',
    },
    example: '--app routing',
  },
  get: { operation: 'getVersion', text: 'Print a version.' },
  create: {
    operation: 'createVersion',
    text: 'Create a version of the active executable.',
    options: {
      name: ['<name>', 'The name; otherwise "Version" and the id.'],
      description: ['<text>', 'The description.'],
    },
    example: 'v2 --description "New neighbourhoods"',
  },
  update: {
    operation: 'updateVersion',
    text: 'Change the name and the description of a version. Its executable never changes.',
    options: { name: ['<name>', 'The new name.'], description: ['<text>', 'The new description.'] },
    example: 'v2 --description "New neighbourhoods"',
  },
  remove: {
    operation: 'deleteVersion',
    text: 'Delete a version. An instance that uses it refuses new runs.',
    confirm: true,
    example: 'v1 --yes',
  },
  show: ({ id, name, description, executable, created_at }) => ({
    version: id,
    name,
    description,
    executable: executable.id,
    runtime: executable.requirements.runtime,
    'pushed by': executable.user_email,
    pushed: executable.uploaded_at,
    created: created_at,
  }),
  more: (versions, session) => {
    versions
      .command('diff')
      .description('Print what differs between the files of two versions.')
      .argument('<before>', 'The id of the earlier version.')
      .argument('<after>', 'The id of the later version.')
      .option('--name-only', 'Print the paths alone.')
      .addHelpText('after', '\nExample:\n  switchyard versions diff v1 v2')
      .action((from, to, { nameOnly }) => printDifferences(session, { from, to, names: nameOnly ?? false }));
  },
});

/** Two texts without a common line take quadratic time. */
const TIMEOUT_MS = 2000;

async function printDifferences(
  session: Session,
  versions: { from: string; to: string; names: boolean },
): Promise<void> {
  const differences = await diffVersions(session.connect(), session.findApplication(), versions);
  const { output } = session;
  output.print({
    json: { files: differences },
    text: () =>
      differences.length === 0
        ? 'The files are the same.\n'
        : differences.map((one) => formatDifference(one, versions.names, output.style)).join(''),
    quiet: () => differences.map(({ path }) => cleanLine(path)),
  });
}

function formatDifference({ path, kind, patch }: FileDifference, names: boolean, style: Style): string {
  const title = `${kind.padEnd(8)} ${cleanLine(path)}\n`;
  if (names) return title;
  if (patch === null) return `${style('strong', title.trimEnd())}\n(no text, or too large to compare)\n`;
  const lines = cleanText(patch)
    .split('\n')
    .map((line) => {
      if (/^(---|\+\+\+) /.test(line)) return style('strong', line);
      if (line.startsWith('+')) return style('good', line);
      if (line.startsWith('-')) return style('bad', line);
      return line.startsWith('@@') ? style('active', line) : line;
    });
  return `${style('strong', title.trimEnd())}\n${lines.join('\n')}`;
}

/** A changed file with its unified diff; null for content that is no text, or too large. */
interface FileDifference extends FileChange {
  patch: string | null;
}

/** Returns the files that differ. Throws the refusal of the server for an unknown version. */
async function diffVersions(
  client: Client,
  application_id: string,
  { from, to, names }: { from: string; to: string; names: boolean },
): Promise<FileDifference[]> {
  const [before, after] = await Promise.all(
    [from, to].map(async (version_id) => {
      const { body } = await client.call('getVersion', { params: { application_id, version_id } });
      const { id: executable_id } = body.executable;
      const files = await client.call('listExecutableFiles', { params: { application_id, executable_id } });
      return { executable_id, files: files.body.files };
    }),
  );
  if (!before || !after) return [];
  const readText = async (
    executable_id: string,
    file: ExecutableFile | undefined,
  ): Promise<string | null> => {
    if (!file) return '';
    if (file.target !== null) return file.target;
    if (file.sha256 === null) return null;
    const params = { application_id, executable_id, sha256: file.sha256 };
    return (await client.call('getExecutableFile', { params })).body.text;
  };
  const differences: FileDifference[] = [];
  for (const change of listFileChanges(before.files, after.files)) {
    const texts = names
      ? [null, null]
      : await Promise.all([
          readText(before.executable_id, change.before),
          readText(after.executable_id, change.after),
        ]);
    differences.push({ ...change, patch: formatPatch(change, texts[0] ?? null, texts[1] ?? null) });
  }
  return differences;
}

function formatPatch(
  { path, before, after }: FileChange,
  from: string | null,
  to: string | null,
): string | null {
  if (from === null || to === null) return null;
  const names = [before ? `a/${path}` : '/dev/null', after ? `b/${path}` : '/dev/null'] as const;
  const patch = createTwoFilesPatch(names[0], names[1], from, to, undefined, undefined, {
    timeout: TIMEOUT_MS,
  });
  // The first line of the library only separates files.
  return patch?.replace(/^=+\n/, '') ?? null;
}
