/** Commands for versions. */
import type { Command } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { CommandError } from '../../errors/command-error.ts';
import { confirmDeletion } from '../../session/confirm.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine, cleanText } from '../../terminal/clean-text.ts';
import { formatAge } from '../../terminal/format-time.ts';
import type { Style } from '../../terminal/style.ts';
import { formatFields } from '../../terminal/table.ts';
import { printDeletedOne } from '../print-deleted.ts';
import { diffVersions, type FileDifference } from './diff-versions.ts';

type Version = CallResponse<Operations['getVersion']>['body'];

/** Defines `versions` with its commands. */
export function defineVersionCommands(program: Command, session: Session): void {
  const versions = program.command('versions').description('List, create and compare versions.');
  versions
    .command('list', { isDefault: true })
    .description('List the versions of the application, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard versions list --app routing')
    .action(() => printVersions(session));
  versions
    .command('get')
    .description('Print a version.')
    .argument('<version>', 'The id of the version.')
    .addHelpText('after', '\nExample:\n  switchyard versions get v1')
    .action(async (version_id) => {
      const params = { application_id: session.findApplication(), version_id };
      printVersion(session, (await session.connect().call('getVersion', { params })).body);
    });
  versions
    .command('create')
    .description('Create a version of the active executable.')
    .argument('<version>', 'The id of the version.')
    .option('--name <name>', 'The name; otherwise the id.')
    .option('--description <text>', 'The description.')
    .addHelpText('after', '\nExample:\n  switchyard versions create v2 --description "New neighbourhoods"')
    .action(async (id, { name, description }) => {
      const { body } = await session.connect().call('createVersion', {
        params: { application_id: session.findApplication() },
        body: { id, ...dropUndefined({ name, description }) },
      });
      printVersion(session, body);
    });
  versions
    .command('update')
    .description('Change the name and the description of a version. Its executable never changes.')
    .argument('<version>', 'The id of the version.')
    .option('--name <name>', 'The new name.')
    .option('--description <text>', 'The new description.')
    .addHelpText('after', '\nExample:\n  switchyard versions update v2 --description "New neighbourhoods"')
    .action((version_id, changes) => updateVersion(session, version_id, changes));
  versions
    .command('delete')
    .description('Delete a version. An instance that uses it refuses new runs.')
    .argument('<version>', 'The id of the version.')
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard versions delete v1 --yes')
    .action(async (version_id, { yes }) => {
      await confirmDeletion(session, { what: `Delete the version ${version_id}?`, word: version_id, yes });
      const params = { application_id: session.findApplication(), version_id };
      await session.connect().call('deleteVersion', { params });
      printDeletedOne(session, 'version', version_id);
    });
  versions
    .command('diff')
    .description('Print what differs between the files of two versions.')
    .argument('<before>', 'The id of the earlier version.')
    .argument('<after>', 'The id of the later version.')
    .option('--name-only', 'Print the paths alone.')
    .addHelpText('after', '\nExample:\n  switchyard versions diff v1 v2')
    .action((from, to, { nameOnly }) => printDifferences(session, { from, to, names: nameOnly ?? false }));
}

async function printVersions(session: Session): Promise<void> {
  const application_id = session.findApplication();
  const { body } = await session.connect().call('listVersions', { params: { application_id } });
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'VERSION', value: ({ id }) => id },
      { title: 'NAME', value: ({ id, name }) => (name === id ? '' : name) },
      { title: 'EXECUTABLE', value: ({ executable }) => executable.id },
      { title: 'CREATED', value: ({ created_at }) => formatAge(Date.parse(created_at), now) },
      { title: 'DESCRIPTION', value: ({ description }) => description },
    ],
    { json: body, empty: `Application ${application_id} has no versions.`, id: ({ id }) => id },
  );
}

async function updateVersion(
  session: Session,
  version_id: string,
  { name, description }: { name?: string; description?: string },
): Promise<void> {
  if (name === undefined && description === undefined)
    throw new CommandError('Nothing to change was given. Give --name or --description.');
  const { body } = await session.connect().call('updateVersion', {
    params: { application_id: session.findApplication(), version_id },
    body: dropUndefined({ name, description }),
  });
  printVersion(session, body);
}

function printVersion({ output }: Session, version: Version): void {
  const { executable } = version;
  output.print({
    json: version,
    text: () =>
      formatFields({
        version: version.id,
        name: version.name,
        description: version.description,
        executable: executable.id,
        runtime: executable.requirements.runtime,
        'pushed by': executable.user_email,
        pushed: executable.uploaded_at,
        created: version.created_at,
      }),
    quiet: () => version.id,
  });
}

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
