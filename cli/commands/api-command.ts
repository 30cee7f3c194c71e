/** The command that sends any request of the API, for everything that has no command. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Command } from '@commander-js/extra-typings';
import { buildPath } from '@switchyard/contract/client.ts';
import { parseExactJson } from '@switchyard/contract/exact-json.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import { closest } from 'fastest-levenshtein';
import { CommandError } from '../errors/command-error.ts';
import { describeRefusal } from '../errors/report-error.ts';
import { trustConnection } from '../profiles/connect.ts';
import type { Session } from '../session/session.ts';
import { createTextCleaner } from '../terminal/clean-text.ts';
import { collectPairs } from './parse-values.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const collectParameter = collectPairs('It must be name=value.');

type Pairs = Record<string, string>;

interface ApiOptions {
  param?: Pairs;
  query?: Pairs;
  data?: string;
}

export function defineApiCommand(program: Command, session: Session): void {
  program
    .command('api')
    .description('Send a request of the API. Name it by the id of its operation, or by method and path.')
    .argument(
      '<operation>',
      'The id of the operation, such as getQueue, or a method: GET, POST, PUT, PATCH, DELETE.',
    )
    .argument('[path]', 'With a method: the path, such as /v1/account/queue.')
    .option(
      '--param <name=value>',
      'A parameter of the path. The application is known from --app.',
      collectParameter,
    )
    .option('--query <name=value>', 'A parameter of the query.', collectParameter)
    .option('--data <json>', 'The body: JSON, @FILE for the content of a file, or - for standard input.')
    .addHelpText(
      'after',
      `
Examples:
  switchyard api getQueue
  switchyard api listApplications --select '[].id'
  switchyard api updateInstance --param instance_id=production --data '{"version_id": "v2"}'
  switchyard api GET /v1/account/usage --query group_by=user`,
    )
    .action((operation, path, options) => sendRequest(session, { operation, path }, options));
}

async function sendRequest(
  session: Session,
  target: { operation: string; path: string | undefined },
  { param = {}, query = {}, data }: ApiOptions,
): Promise<void> {
  const { method, path } = findTarget(session, target, param);
  const connection = session.findConnection();
  trustConnection(connection);
  const search = new URLSearchParams(query);
  const body = data === undefined ? undefined : await readBody(session, data);
  const response = await fetch(`${connection.url}${path}${search.size > 0 ? `?${search}` : ''}`, {
    method,
    headers: {
      authorization: `Bearer ${connection.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    signal: session.terminal.signal,
  });
  if (!response.ok) throw describeRefusal(response.status, await response.text());
  await printBody(session, response);
}

/** Returns method and path. Throws CommandError for an unknown operation, and a path that is not of the API. */
function findTarget(
  session: Session,
  { operation, path }: { operation: string; path: string | undefined },
  params: Pairs,
): { method: string; path: string } {
  if (METHODS.includes(operation.toUpperCase())) {
    if (path?.startsWith('/')) return { method: operation.toUpperCase(), path };
    throw new CommandError(`The path is "${path ?? ''}"; it must begin with "/", such as /v1/account/queue.`);
  }
  const known: Readonly<Record<string, Operation>> = operations;
  const declared = Object.hasOwn(known, operation) ? known[operation] : undefined;
  if (!declared)
    throw new CommandError(
      `There is no operation "${operation}"; did you mean "${closest(operation, Object.keys(known))}"? Give an id, or one of ${METHODS.join(', ')} and a path.`,
    );
  if (path !== undefined)
    throw new CommandError(
      `An operation has its path; remove "${path}", or give a method in place of "${operation}".`,
    );
  const needsApplication = declared.path.includes('{application_id}') && params.application_id === undefined;
  const all = needsApplication ? { ...params, application_id: session.findApplication() } : params;
  try {
    return { method: declared.method, path: buildPath(declared, all) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${reason} Give it with --param name=value.`);
  }
}

async function readBody({ terminal }: Session, data: string): Promise<Uint8Array<ArrayBuffer>> {
  if (data === '-') return new Uint8Array(await buffer(terminal.in));
  if (!data.startsWith('@')) return new TextEncoder().encode(data);
  const file = resolve(terminal.cwd, data.slice(1));
  if (!existsSync(file)) throw new CommandError(`--data is "${data}"; ${file} does not exist.`);
  return new Uint8Array(await readFile(file));
}

/** Prints JSON with indentation, and everything else as it arrives. */
async function printBody({ terminal, selection, output }: Session, response: Response): Promise<void> {
  const contentType = response.headers.get('content-type');
  if (contentType?.startsWith('application/json')) {
    output.printJson(parseExactJson(await response.text()));
    return;
  }
  if (contentType !== null && selection) {
    await response.body?.cancel();
    throw new CommandError(
      `The response is ${contentType}, not JSON, from which --select could select. Leave out --select.`,
    );
  }
  const reader = response.body?.getReader();
  const clean = terminal.out.isTTY === true ? createTextCleaner() : (chunk: Uint8Array) => chunk;
  for (let read = await reader?.read(); read?.value; read = await reader?.read())
    terminal.out.write(clean(read.value));
}
