/**
 * The contract's schemas, compiled. Bodies are taken as they are; query parameters are text and are turned into what the
 * schema says. Nothing is ever removed or filled in.
 */
import type { Operation } from '@switchyard/contract/operation.ts';
import { Ajv, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { badRequest } from '../errors/problem.ts';
import { formatUnknownParameter, formatValidationError } from './validation-messages.ts';

/** RFC 3339, as far as it names an instant: a leap second and February 30 do not. */
function isInstant(text: string): boolean {
  const match = RFC_3339.exec(text);
  if (!match?.[1] || !match[2] || !match[3]) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDate() === day && !Number.isNaN(Date.parse(text));
}
const RFC_3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const settings = { strict: false, verbose: true, allErrors: false } as const;
/** `password` says that a value is not to be shown; it allows any text. */
const forBodies = new Ajv(settings).addFormat('date-time', isInstant).addFormat('password', true);
const forQueries = new Ajv({ ...settings, coerceTypes: true }).addFormat('date-time', isInstant);

export interface RequestValidator {
  /** Throws a Problem 400 for what the contract does not allow; the query is changed in place to what the schema says. */
  validateQuery(query: Record<string, unknown>): void;
  validateBody(body: unknown): void;
}

/**
 * The check of one operation. Its schemas are compiled when it is first asked for, and once a process: all of them at the
 * start took a fifth of the time until a server listens.
 */
export function getRequestValidator(operation: Operation): RequestValidator {
  const found = checks.get(operation) ?? newCheck(operation);
  checks.set(operation, found);
  return found;
}

const checks = new WeakMap<Operation, RequestValidator>();

function newCheck(operation: Operation): RequestValidator {
  const schema = operation.body?.schema;
  const parameters = Object.keys(operation.query?.properties ?? {});
  let forQuery: ValidateFunction | undefined;
  let forBody: ValidateFunction | undefined;
  return {
    validateQuery(value) {
      for (const [name, one] of Object.entries(value)) {
        // A misspelt filter would otherwise be a list of everything.
        if (!parameters.includes(name)) throw badRequest(formatUnknownParameter(name, parameters));
        if (Array.isArray(one))
          throw badRequest(`${name} is given ${one.length} times in the query; give it once.`);
      }
      if (!operation.query) return;
      forQuery ??= forQueries.compile({ ...operation.query, $id: undefined });
      run(forQuery, value, 'query');
    },
    validateBody(value) {
      if (!schema || operation.body?.stream) return;
      if (value === undefined) {
        if (operation.body?.required === false) return;
        throw badRequest('The body of the request is empty; it must be a JSON object.');
      }
      forBody ??= compileSchema(schema);
      run(forBody, value, 'body');
    },
  };
}

function run(validate: ValidateFunction, value: unknown, part: 'body' | 'query'): void {
  if (!validate(value)) throw badRequest(formatValidationError(validate.errors ?? [], part));
}

/** A schema of the contract as a check of its own, for what comes from elsewhere than a request. */
export function compileSchema<T extends TSchema>(schema: T): ValidateFunction<Static<T>> {
  return forBodies.compile<Static<T>>(withoutIds(schema));
}

/** `$id`s name components of the document; several operations share them, and Ajv takes each only once. */
function withoutIds(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === '$id' ? undefined : value)),
  ) as object;
}
