/** Commands that call one operation. Their arguments and options are fields of its request, and follow its schema. */
import { Argument, type Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { CallRequest, ResponseBody } from '@switchyard/contract/client.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, type Operations, operations } from '@switchyard/contract/operations.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import { CommandError } from '../../errors/command-error.ts';
import { confirm } from '../../session/confirm.ts';
import type { Session } from '../../session/session.ts';
import { parseWholeNumber } from '../parse-values.ts';

/** The values of arguments and options by the field of the request; undefined without a value. */
export type Values = Readonly<Record<string, unknown>>;

/** An argument such as `<version>`, or the value of an option such as `<name>` (empty for a switch), and its sentence. */
export type Field = readonly [value: string, text: string, settings?: FieldSettings];

interface FieldSettings {
  /** The flag, where it differs from the name of the field. */
  flag?: string;
  /** true: the command completes the request without it. */
  isOptional?: true;
  /** The default. */
  initial?: unknown;
  parse?(text: string, before?: unknown): unknown;
}

type Keys<T> = T extends object ? Extract<keyof T, string> : never;
type Request<Id extends OperationId> = CallRequest<Operations[Id]>;
type FieldName<Id extends OperationId> =
  | Keys<Request<Id>['params']>
  | Keys<Request<Id>['query']>
  | Keys<Request<Id>['body']>;

type Fields<Id extends OperationId> = { readonly [Name in FieldName<Id>]?: Field };
export type AnyFields = Readonly<Record<string, Field | undefined>>;

/** A command of any operation. */
export interface CommandDescription {
  operation: OperationId;
  /** The sentence of the help. */
  text: string;
  /** Positional arguments in their order. */
  arguments?: AnyFields;
  options?: AnyFields;
  /** The words after the command in its example. */
  example?: string;
  headers?: (session: Session) => Record<string, string>;
  /** The question before the request, which `--yes` skips. */
  confirm?: ((values: Values) => { what: string; word?: string }) | undefined;
  /** At least one option is necessary. */
  isChange?: boolean;
  /** Completes or replaces values before the request. */
  prepare?: (values: Values, session: Session) => Values | Promise<Values>;
  /** Replaces the one request by several. */
  repeat?: (send: (more: Values) => Promise<unknown>, values: Values) => Promise<unknown>;
  /** The field of the response that `--quiet` prints; otherwise `id`. */
  id?: string | undefined;
  // The next two are methods, so that their body has the type of the operation in a typed command.
  /** The sentence that is printed. */
  done?(body: unknown, values: Values): string;
  /** Prints something else. */
  print?(session: Session, body: unknown, values: Values): unknown;
}

/** A command with the fields and the response of its operation. */
export interface CommandSettings<Id extends OperationId>
  extends Pick<
    CommandDescription,
    'text' | 'example' | 'headers' | 'confirm' | 'isChange' | 'prepare' | 'id'
  > {
  operation: Id;
  /** The positional arguments; of a resource otherwise those that name it. */
  arguments?: Fields<Id>;
  options?: Fields<Id>;
  done?(body: ResponseBody<Id>, values: Values): string;
  print?(session: Session, body: ResponseBody<Id>, values: Values): unknown;
}

/** A command with commands below it. */
export type Parent = Pick<Command, 'command'>;

/** Adds a command of one operation to its group. */
export function defineCommand<Id extends OperationId>(
  group: Parent,
  session: Session,
  { name, isDefault = false, ...settings }: CommandSettings<Id> & { name: string; isDefault?: boolean },
): void {
  completeCommand(group.command(name, { isDefault }), session, settings);
}

/** Adds what the operation needs to a command. */
export function completeCommand(
  command: CommandUnknownOpts,
  session: Session,
  settings: CommandDescription,
): void {
  const declared: Operation = operations[settings.operation];
  const positional = listFields(settings.arguments);
  const optional = listFields(settings.options).map(([name, field]) => ({
    name,
    option: createOption(declared, name, field),
  }));
  command.description(settings.text);
  for (const [, [value, text, { parse } = {}]] of positional)
    command.addArgument(parse ? new Argument(value, text).argParser(parse) : new Argument(value, text));
  for (const { option } of optional) command.addOption(option);
  if (settings.confirm) command.addOption(new Option('--yes', 'Do not ask.'));
  command.addHelpText('after', () => formatExample(command, settings.example ?? ''));
  command.action(async () => {
    const options: Values = command.opts();
    const given = optional.map(({ name, option }) => [name, options[option.attributeName()]] as const);
    if (settings.isChange && given.every(([, value]) => value === undefined))
      throw new CommandError(`Nothing to change was given. Give ${listFlags(optional)}.`);
    const values = Object.fromEntries([
      ...positional.map(([field], index) => [field, command.processedArgs[index]] as const),
      ...given,
    ]);
    if (settings.confirm) await confirm(session, { ...settings.confirm(values), yes: options.yes === true });
    await runOperation(session, settings, values);
  });
}

async function runOperation(session: Session, settings: CommandDescription, given: Values): Promise<void> {
  const { operation, headers, prepare, repeat, done, print } = settings;
  const values = prepare ? await prepare(given, session) : given;
  const send = async (more: Values): Promise<unknown> => {
    const request = buildRequest(session, operations[operation], { ...values, ...more });
    const complete = { ...request, ...(headers && { headers: headers(session) }) };
    return (await session.connect().callUntyped(operation, complete)).body;
  };
  const body = await (repeat ? repeat(send, values) : send({}));
  if (print) await print(session, body, values);
  else session.output.printSentence(body, done?.(body, values) ?? '', readField(body, settings.id));
}

/** Returns the field with the id of a resource. */
export function readField(body: unknown, name = 'id'): string {
  return isRecord(body) ? String(body[name] ?? '') : '';
}

/** Divides the values into the parts of a request. The application is that of the command where no value names it. */
function buildRequest(session: Session, { params, query, body }: Operation, values: Values) {
  const path = Object.keys(params?.properties ?? {});
  const search = Object.keys(query?.properties ?? {});
  const select = (isSelected: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(values).filter(([name, value]) => value !== undefined && isSelected(name)),
    );
  const findId = (name: string) =>
    values[name] ?? (name === 'application_id' ? session.findApplication() : '');
  return {
    params: Object.fromEntries(path.map((name) => [name, String(findId(name))])),
    query: select((name) => search.includes(name)),
    ...(body && { body: select((name) => !path.includes(name) && !search.includes(name)) }),
  };
}

function listFields(fields: AnyFields = {}): [name: string, field: Field][] {
  return Object.entries(fields).flatMap(([name, field]) => (field ? [[name, field]] : []));
}

/** Returns the option of a field: its schema has the allowed values, and a required field without a default is a required option. */
function createOption(declared: Operation, name: string, [value, text, settings = {}]: Field): Option {
  const { flag = `--${name.replaceAll('_', '-')}`, initial, parse, isOptional } = settings;
  const [schema, isRequired] = findSchema(declared, name);
  const option = new Option(`${flag} ${value}`.trim(), text);
  const item = isRecord(schema.items) ? schema.items : schema;
  if (parse) option.argParser(parse);
  else if (Array.isArray(item.enum))
    option.choices(item.enum.filter((one: unknown) => one !== null).map(String));
  else if (item.type === 'integer')
    option.argParser(parseWholeNumber(Number(item.minimum), Number(item.maximum)));
  if (initial !== undefined) option.default(initial);
  return option.makeOptionMandatory(isRequired && !isOptional && initial === undefined);
}

/** Returns the schema of a field, and true when the request needs it. */
function findSchema(
  { query, body }: Operation,
  name: string,
): [schema: Record<string, unknown>, isRequired: boolean] {
  for (const schema of [query, body?.schema]) {
    const { properties, required }: { properties?: unknown; required?: unknown } = schema ?? {};
    const field = isRecord(properties) ? properties[name] : undefined;
    if (isRecord(field)) return [field, Array.isArray(required) && required.includes(name)];
  }
  return [{}, false];
}

function listFlags(options: readonly { option: Option }[]): string {
  const flags = options.map(({ option }) => option.long ?? option.flags);
  return [flags.slice(0, -1).join(', '), ...flags.slice(-1)].filter(Boolean).join(' or ');
}

function formatExample(command: CommandUnknownOpts, example: string): string {
  const words = [example];
  for (let part: CommandUnknownOpts | null = command; part; part = part.parent) words.unshift(part.name());
  return `\nExample:\n  ${words.join(' ').trimEnd()}`;
}
