/** The commands with which people list, read, create, change and delete resources of one kind. */
import type { Command } from '@commander-js/extra-typings';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { listItems, type Page, readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { type Columns, formatFields } from '../../terminal/table.ts';
import {
  type AnyFields,
  type CommandDescription,
  type CommandSettings,
  completeCommand,
  type Field,
  type Parent,
  readField,
  type Values,
} from './define-command.ts';

/** The question before a deletion lists at most as many. */
const LISTED_IDS_MAX = 10;

type Item<Body> = Body extends readonly (infer Row)[]
  ? Row
  : Body extends { items: readonly (infer Row)[] }
    ? Row
    : never;

interface ListSettings<Id extends OperationId> extends CommandSettings<Id> {
  /** The word of the command, or nothing for the group itself; otherwise `list`. */
  name?: string;
  columns: Columns<Item<ResponseBody<Id>>> | ((session: Session) => Promise<Columns<Item<ResponseBody<Id>>>>);
  /** The sentence of an empty list; otherwise that the application or the account has none. */
  empty?: string | ((values: Values) => string);
  /** The option `--limit`, up to which pages are read. */
  limit?: { text: string; initial: number; parse: (text: string) => number };
}

interface RemoveSettings<Id extends OperationId> extends Omit<CommandSettings<Id>, 'confirm'> {
  /** The word of the command, and its past; otherwise `delete` and `Deleted`. */
  words?: readonly [name: string, done: string];
  /** true: the command accepts several ids. */
  isMany?: true;
  /** The question before it, or true for the usual one: the answer is the id. Every other deletion is answered by yes. */
  confirm?: true | ((id: string) => string);
}

type FieldValues = Parameters<typeof formatFields>[0];

/** The words of a kind of resource. */
interface ResourceWords {
  /** The name of one in sentences, such as `input set`. The argument has its last word. */
  noun: string;
  /** The field with the id; otherwise `id`. */
  id?: string;
  /** The sentence of the argument that names one. */
  argument?: string;
  /** Returns the id for an argument that is more than the id. */
  find?: (session: Session, text: string) => Promise<string>;
  /** Arguments before the one that names the resource. */
  parents?: AnyFields;
  /** The id in examples; otherwise that of the example in the contract. */
  example?: string;
  /** The fields of one, as text. */
  show?(item: unknown): FieldValues;
}

/** A kind of resource: the operations of its commands, and the words that they print. */
interface Resource<
  List extends OperationId,
  Get extends OperationId,
  Create extends OperationId,
  Update extends OperationId,
  Remove extends OperationId,
> extends ResourceWords {
  /** The word of the commands, such as `sets`. */
  name: string;
  /** The sentence of the help. */
  text: string;
  list?: ListSettings<List>;
  get?: CommandSettings<Get>;
  create?: CommandSettings<Create>;
  update?: CommandSettings<Update>;
  remove?: RemoveSettings<Remove>;
  show?(item: ResponseBody<Get>): FieldValues;
  /** Other commands. */
  more?: (group: Command, session: Session) => void;
}

/** Returns the function that adds the commands of a resource. */
export function defineResource<
  List extends OperationId = never,
  Get extends OperationId = never,
  Create extends OperationId = never,
  Update extends OperationId = never,
  Remove extends OperationId = never,
>(resource: Resource<List, Get, Create, Update, Remove>): (parent: Parent, session: Session) => void {
  const { list, get, create, update, remove } = resource;
  const words = { example: readExample(get ?? create, resource.id), ...resource };
  return (parent, session) => {
    const group = parent.command(resource.name).description(resource.text);
    const print: CommandDescription['print'] = (_session, body) => printOne(session, resource, body);
    if (list) defineList(group, session, list, resource);
    if (get) completeCommand(group.command('get'), session, { print, ...addressOne(words, get) });
    if (create)
      completeCommand(group.command('create'), session, {
        id: resource.id,
        arguments: { ...resource.parents, id: nameArgument(resource) },
        ...(!create.done && { print }),
        ...create,
      });
    if (update)
      completeCommand(group.command('update'), session, {
        id: resource.id,
        isChange: true,
        ...(!update.done && { print }),
        ...addressOne(resource, update),
      });
    if (remove) defineRemove(group, session, remove, words);
    resource.more?.(group, session);
  };
}

function nameArgument({ noun, argument }: ResourceWords, isMany = false): Field {
  const word = noun.split(' ').at(-1);
  if (isMany) return [`<${word}...>`, argument ?? `The ids of the ${noun}s.`];
  return [`<${word}>`, argument ?? `The id of the ${noun}.`];
}

/** Completes a command by the arguments that name a resource, the last of which is the last parameter of the path. */
function addressOne(
  resource: ResourceWords,
  settings: CommandDescription,
  isMany = false,
): CommandDescription {
  const name = getIdName(settings.operation);
  const { find, parents } = resource;
  return {
    arguments: { ...parents, [name]: nameArgument(resource, isMany) },
    ...(resource.example && { example: resource.example }),
    ...settings,
    prepare: async (given, session) => {
      const values = find ? { ...given, [name]: await find(session, String(given[name])) } : given;
      return settings.prepare ? settings.prepare(values, session) : values;
    },
  };
}

/** Returns the id in the example that the contract has of the response. */
function readExample(settings: { operation: OperationId } | undefined, id: string | undefined): string {
  const { responses = {} }: Partial<Operation> = settings ? operations[settings.operation] : {};
  return readField(responses[200]?.example ?? responses[201]?.example, id);
}

function getIdName(operation: OperationId): string {
  const { params }: Operation = operations[operation];
  return Object.keys(params?.properties ?? {}).at(-1) ?? '';
}

/** Adds a command that prints a table. */
export function defineList<Id extends OperationId>(
  group: Command,
  session: Session,
  { name = 'list', columns, empty, limit, ...settings }: ListSettings<Id>,
  resource: Pick<ResourceWords, 'noun' | 'id' | 'parents'> = { noun: 'row' },
): void {
  const { params }: Operation = operations[settings.operation];
  const isOfApplication = 'application_id' in (params?.properties ?? {});
  const findOwner = () => (isOfApplication ? `Application ${session.findApplication()}` : 'The account');
  const isDefault = name === 'list' && resource.parents === undefined;
  type Row = Item<ResponseBody<Id>>;
  completeCommand(name === '' ? group : group.command(name, { isDefault }), session, {
    ...(resource.parents && { arguments: resource.parents }),
    ...settings,
    ...(limit && {
      options: { ...settings.options, limit: ['<count>', limit.text, limit] },
      repeat: (send, values) =>
        readPages(Number(values.limit), async (page) => (await send({ ...page })) as Page<Row>),
    }),
    print: async ({ output }, body, values) =>
      output.printTable(
        listItems(body as Row[] | Page<Row>),
        typeof columns === 'function' ? await columns(session) : columns,
        {
          json: body,
          empty:
            (typeof empty === 'function' ? empty(values) : empty) ??
            `${findOwner()} has no ${resource.noun}s.`,
          id: (row) => readField(row, settings.id ?? resource.id),
        },
      ),
  });
}

/** Adds a command that deletes or ends one resource or several. */
export function defineRemove<Id extends OperationId>(
  group: Parent,
  session: Session,
  settings: RemoveSettings<Id>,
  resource: ResourceWords,
): void {
  const { words: [word, done] = ['delete', 'Deleted'], isMany = false, confirm, ...command } = settings;
  const name = getIdName(settings.operation);
  const noun = isMany || settings.words ? '' : `${resource.noun} `;
  const listIds = (values: Values) => [...new Set([values[name]].flat().map(String))];
  const describe = (ids: readonly string[]) => `${done} ${noun}${ids.map(cleanLine).join(', ')}.`;
  completeCommand(group.command(word), session, {
    ...((confirm || !settings.words) && {
      confirm: (values) => {
        const ids = listIds(values);
        const list = ids.length > LISTED_IDS_MAX ? '' : ` ${ids.map(cleanLine).join(', ')}`;
        const number = ids.length > 1 ? `${ids.length} ${resource.noun}s` : `the ${resource.noun}`;
        const usual = `Delete ${number}${list}?`;
        return {
          what: typeof confirm === 'function' ? confirm(String(ids[0])) : usual,
          ...(confirm && { word: String(ids[0]) }),
        };
      },
    }),
    repeat: async (send, values) => {
      const ids = listIds(values);
      for (const [index, id] of ids.entries())
        await send({ [name]: id }).catch((error: unknown) => {
          // Those before it are gone, and a repetition would fail at the first.
          if (index > 0) session.output.note(describe(ids.slice(0, index)));
          throw error;
        });
    },
    print: (_session, _body, values) => {
      const ids = listIds(values);
      const json = { [done.toLowerCase()]: isMany ? ids : ids[0] };
      session.output.printSentence(json, describe(ids), ids);
    },
    ...addressOne(resource, command, isMany),
  });
}

/** Prints the fields of a resource. */
export function printOne(
  { output }: Session,
  { show, id }: Pick<ResourceWords, 'show' | 'id'>,
  body: unknown,
): void {
  output.print({
    json: body,
    text: () => (show ? formatFields(show(body)) : ''),
    quiet: () => readField(body, id),
  });
}

/** Prints the token of a resource after its creation: nothing else returns it again. */
export function printToken(session: Session, body: { id: string; token: string }): void {
  session.output.note(`Created ${body.id}. Only this output has its token.`);
  session.output.printSentence(body, body.token, body.token);
}
