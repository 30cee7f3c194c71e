/**
 * Validates requests against the contract's schemas. Query parameters are text, so validation converts them to the types of
 * the schema. It never converts a body, removes a field or fills in a default.
 */
import type { Operation } from '@switchyard/contract/operation.ts';
import {
  formatUnknownParameter,
  formatValidationError,
} from '@switchyard/contract/presentation/validation-messages.ts';
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { badRequest } from '../errors/problem.ts';

/** Returns true for an RFC 3339 timestamp that names an instant: a leap second and February 30 do not. */
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

/** Returns true for a day that the calendar has, such as `2026-11-20`. */
function isDay(text: string): boolean {
  return isInstant(`${text}T00:00:00Z`);
}

/**
 * Ajv compiles each object once, also for several servers in a process. The `$id` of a schema names a component of the OpenAPI
 * document. Several operations share it, and Ajv would reject the second schema with it; no schema has the `id` of old
 * drafts. TypeScript checks the schemas. Ajv would check them too, which takes 20 ms of each process.
 */
const settings: Options = {
  ...{ strict: false, verbose: true, allErrors: false },
  ...{ schemaId: 'id', validateSchema: false, meta: false },
};
/**
 * The format `password` allows any text: it marks values that no message may quote. Without `strictNumbers`, 1e999 would be a
 * number: JSON.parse reads it as Infinity, which no database and no response can hold. In a query it would do the opposite:
 * ajv converts the text 1e400 to Infinity after the check of the type, and then skips the bounds.
 */
const bodyAjv = new Ajv({ ...settings, strictNumbers: true })
  .addFormat('date-time', isInstant)
  .addFormat('password', true);
const queryAjv = new Ajv({ ...settings, coerceTypes: true })
  .addFormat('date-time', isInstant)
  .addFormat('date', isDay);

/** Validates the path, the query and the body of requests to one operation. */
interface RequestValidator {
  /** Throws a 400 for a parameter of the path that no resource can have. Most are ids, of which an unknown one is a 404. */
  validateParams(params: Record<string, string>): void;
  /** Converts the query in place to the types of the schema; throws a 400 for a query that the contract does not allow. */
  validateQuery(query: Record<string, unknown>): void;
  /** Throws a 400 for a body that the contract does not allow. */
  validateBody(body: unknown): void;
}

/**
 * Creates the validator of an operation. It compiles each schema at its first use: compiling all of them at the start took
 * a fifth of the time until a server listens.
 */
export function createRequestValidator(operation: Operation): RequestValidator {
  const schema = operation.body?.schema;
  const parameters = Object.keys(operation.query?.properties ?? {});
  const hasRules = Object.values(operation.params?.properties ?? {}).some((one) => 'pattern' in one);
  let paramsSchema: ValidateFunction | undefined;
  let querySchema: ValidateFunction | undefined;
  let bodySchema: ValidateFunction | undefined;
  return {
    validateParams(value) {
      if (!hasRules || !operation.params) return;
      paramsSchema ??= bodyAjv.compile(operation.params);
      validatePart(paramsSchema, value, 'path');
    },
    validateQuery(value) {
      for (const [name, values] of Object.entries(value)) {
        // Without this check a misspelt filter would select everything.
        if (!parameters.includes(name)) throw badRequest(formatUnknownParameter(name, parameters));
        if (Array.isArray(values))
          throw badRequest(`${name} is given ${values.length} times in the query; give it once.`);
      }
      if (!operation.query) return;
      querySchema ??= queryAjv.compile(operation.query);
      validatePart(querySchema, value, 'query');
    },
    validateBody(value) {
      if (!schema || operation.body?.stream) return;
      if (value === undefined) {
        if (operation.body?.required === false) return;
        throw badRequest('The body of the request is empty; it must be a JSON object.');
      }
      bodySchema ??= compileSchema(schema);
      validatePart(bodySchema, value, 'body');
    },
  };
}

function validatePart(validate: ValidateFunction, value: unknown, part: 'body' | 'query' | 'path'): void {
  if (!validate(value)) throw badRequest(formatValidationError(validate.errors ?? [], part));
}

/** Compiles a schema of the contract into a type guard, also for values that do not come from a request. */
export function compileSchema<T extends TSchema>(schema: T): ValidateFunction<Static<T>> {
  return bodyAjv.compile<Static<T>>(schema);
}
