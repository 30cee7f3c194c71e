/** Commands for secrets. A value comes from standard input or a file: arguments are in the process list and the history. */
import { buffer } from 'node:stream/consumers';
import { type Command, Option } from '@commander-js/extra-typings';
import { ApiError } from '@switchyard/contract/client.ts';
import { CommandError } from '../errors/command-error.ts';
import { confirm } from '../session/confirm.ts';
import { readPages } from '../session/list-items.ts';
import { decodeText, readTextFile } from '../session/read-text-file.ts';
import type { Session } from '../session/session.ts';
import { age } from '../terminal/columns.ts';

type SecretType = 'env' | 'file';

interface SetOptions {
  type: SecretType;
  fromFile?: string | undefined;
}

export function defineSecretCommands(program: Command, session: Session): void {
  const secrets = program.command('secrets').description('List, set and delete secrets of the application.');
  secrets
    .command('list', { isDefault: true })
    .description('List the secrets collections, or the secrets of one. Values are never printed.')
    .argument('[collection]', 'The id of the collection whose secrets to list.')
    .addHelpText('after', '\nExample:\n  switchyard secrets list solver-licence')
    .action((collection) =>
      collection === undefined ? printCollections(session) : printSecrets(session, collection),
    );
  secrets
    .command('set')
    .description('Set a secret to the text of standard input or of a file. Creates a missing collection.')
    .argument('<collection>', 'The id of the collection.')
    .argument('<location>', 'The environment variable, or the path of the file that the app reads.')
    .addOption(createTypeOption())
    .option('--from-file <file>', 'Read the value from this file; otherwise from standard input.')
    .addHelpText('after', '\nExample:\n  switchyard secrets set solver-licence GRB_WLSSECRET < secret.txt')
    .action((collection, location, options) => setSecret(session, { collection, location }, options));
  secrets
    .command('delete')
    .description('Delete a secret, or a collection with all its secrets.')
    .argument('<collection>', 'The id of the collection.')
    .argument('[location]', 'The secret; without it, the whole collection.')
    .addOption(createTypeOption())
    .option('--yes', 'Do not ask.')
    .addHelpText('after', '\nExample:\n  switchyard secrets delete solver-licence GRB_WLSSECRET --yes')
    .action(async (collection, location, { type, yes }) => {
      const word = location ?? collection;
      const what =
        location === undefined ? `Delete all secrets of ${collection}?` : `Delete the secret ${location}?`;
      await confirm(session, { what, word, yes });
      await (location === undefined
        ? session.connect().call('deleteSecretsCollection', { params: findParams(session, collection) })
        : session.connect().call('patchSecretsCollection', {
            params: findParams(session, collection),
            body: { operations: [{ op: 'delete', type, location }] },
          }));
      session.output.printSentence({ deleted: word }, `Deleted ${word}.`, word);
    });
}

function createTypeOption() {
  return new Option('--type <type>', 'The app reads it from a variable or from a file.')
    .choices(['env', 'file'] as const)
    .default('env' as const);
}

function findParams(session: Session, collection_id: string) {
  return { application_id: session.findApplication(), collection_id };
}

async function printCollections(session: Session): Promise<void> {
  const params = { application_id: session.findApplication() };
  const body = await readPages(
    Number.POSITIVE_INFINITY,
    async (query) => (await session.connect().call('listSecretsCollections', { params, query })).body,
  );
  session.output.printTable(
    body.items,
    { COLLECTION: 'id', NAME: ({ id, name }) => (name === id ? '' : name), CHANGED: age('updated_at') },
    { json: body, empty: 'The application has no secrets.', id: ({ id }) => id },
  );
}

/** Prints types and locations. The values stay away from the terminal, its history and its recordings. */
async function printSecrets(session: Session, collection: string): Promise<void> {
  const { body } = await session
    .connect()
    .call('getSecretsCollection', { params: findParams(session, collection) });
  const rows = body.secrets.map(({ type, location }) => ({ type, location }));
  session.output.printTable(
    rows,
    { TYPE: 'type', LOCATION: 'location' },
    {
      json: { ...body, secrets: rows },
      empty: `The collection ${collection} has no secrets.`,
      id: ({ location }) => location,
    },
  );
}

async function setSecret(
  session: Session,
  { collection, location }: { collection: string; location: string },
  { type, fromFile }: SetOptions,
): Promise<void> {
  const { terminal, output } = session;
  const read =
    fromFile === undefined
      ? decodeText(await buffer(terminal.in), 'Standard input')
      : readTextFile(terminal, fromFile, `--from-file is "${fromFile}", which cannot be read.`);
  // Editors and `echo` end a text with a line feed that is no part of a variable; a file keeps it.
  const value = type === 'env' ? read.replace(/\r?\n$/, '') : read;
  if (value === '')
    throw new CommandError('The value is empty. Give it on standard input or with --from-file.');
  await storeSecret(session, collection, { type, location, value });
  output.printSentence({ collection, type, location }, `Set ${location} in ${collection}.`, location);
}

interface Secret {
  type: SecretType;
  location: string;
  value: string;
}

/** Updates the secret, or creates it or its collection. Reading the collection first would be a read of secrets in the audit log. */
async function storeSecret(session: Session, collection: string, secret: Secret): Promise<void> {
  const client = session.connect();
  const params = findParams(session, collection);
  const patch = (op: 'update' | 'create') =>
    client.call('patchSecretsCollection', { params, body: { operations: [{ op, ...secret }] } });
  try {
    await patch('update');
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 400)) throw error;
    if (error.status === 400) await patch('create');
    else
      await client.call('createSecretsCollection', {
        params: { application_id: params.application_id },
        body: { id: collection, name: collection, secrets: [secret] },
      });
  }
}
