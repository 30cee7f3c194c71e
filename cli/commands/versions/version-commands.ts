/** Commands for versions. */

import type { Session } from '../../session/session.ts';
import { cleanLine, cleanText } from '../../terminal/clean-text.ts';
import { age, nameUnlessId } from '../../terminal/columns.ts';
import type { Style } from '../../terminal/style.ts';
import { defineResource } from '../resource/define-resource.ts';
import { diffVersions, type FileDifference } from './diff-versions.ts';

/** Defines `versions` with its commands. */
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
