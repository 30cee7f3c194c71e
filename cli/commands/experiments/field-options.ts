/** Options that are fields of a request. The schema of the operation says how a text becomes a value. */
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import type { RequestFields } from '../../experiments/create-experiment.ts';
import {
  parseAmount,
  parseCount,
  parseJsonObject,
  parseList,
  parseMetric,
  parseNumber,
  parseObjectives,
} from '../../experiments/read-options.ts';

/** An option of a command. */
export type FieldOption = readonly [flags: string, text: string, settings?: FieldSettings];

interface FieldSettings {
  /** The path of the field, where it is not the name of the flag. */
  at?: string;
  isRequired?: true;
  isHidden?: boolean;
}

/** Objects that the command line writes as one text. */
const PARSERS: Readonly<Record<string, (text: string, before: unknown) => unknown>> = {
  difference: parseAmount,
  metrics: (text, before) => [...(Array.isArray(before) ? before : []), parseMetric(text)],
  objectives: parseObjectives,
  option_sets: parseJsonObject,
};

/** Adds the options, and returns the function that reads the fields that were given. */
export function addFieldOptions(
  command: CommandUnknownOpts,
  operation: OperationId,
  fields: readonly FieldOption[],
): () => RequestFields {
  const added = fields.map(([flags, text, { at, isRequired = false, isHidden = false } = {}]) => {
    const option = new Option(flags, text).makeOptionMandatory(isRequired).hideHelp(isHidden);
    const path = (at ?? option.name().replaceAll('-', '_')).split('.');
    command.addOption(setParser(option, operation, path));
    return { path, name: option.attributeName() };
  });
  return () => {
    const values: Record<string, unknown> = command.opts();
    const body: RequestFields = {};
    for (const { path, name } of added) setField(body, path, values[name]);
    return body;
  };
}

function setParser(option: Option, operation: OperationId, path: readonly string[]): Option {
  const { body }: Operation = operations[operation];
  const schema = path.reduce<Record<string, unknown>>(
    ({ properties }, name) => (isRecord(properties) && isRecord(properties[name]) ? properties[name] : {}),
    { ...body?.schema },
  );
  const parse = PARSERS[path[0] ?? ''];
  if (parse) return option.argParser(parse);
  if (Array.isArray(schema.enum))
    return option.choices(schema.enum.filter((one: unknown) => one !== null).map(String));
  if (schema.type === 'array') return option.argParser(parseList);
  if (schema.type === 'integer' && Number(schema.minimum) >= 1) return option.argParser(parseCount);
  if (schema.type === 'integer' || schema.type === 'number') return option.argParser(parseNumber);
  return option;
}

function setField(body: RequestFields, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (value === undefined) return;
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner = isRecord(body[name]) ? body[name] : {};
  body[name] = inner;
  // An option without its value, such as `--racing`, is an object with the defaults of the server.
  if (value !== true) setField(inner, rest, value);
}
