/**
 * The contract's schemas, compiled. Bodies are taken as they are; query parameters are text and are turned into what the
 * schema says. Nothing is ever removed or filled in.
 */
import type { Operation } from '@switchyard/contract/operation.ts';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { badRequest } from './problem.ts';
import { sentenceFor } from './sentences.ts';

const settings = { strict: false, verbose: true, allErrors: false } as const;
const forBodies = addFormats.default(new Ajv(settings), ['date-time']);
const forQueries = addFormats.default(new Ajv({ ...settings, coerceTypes: true }), ['date-time']);

export interface RequestCheck {
  /** Throws a Problem 400 for what the contract does not allow; the query is changed in place to what the schema says. */
  query(query: Record<string, unknown>): void;
  body(body: unknown): void;
}

/** The check of one operation. */
export function checkFor(operation: Operation): RequestCheck {
  const query = operation.query ? forQueries.compile({ ...operation.query, $id: undefined }) : undefined;
  const schema = operation.body?.schema;
  const body = schema && !operation.body?.stream ? forBodies.compile(withoutIds(schema)) : undefined;
  return {
    query(value) {
      for (const [name, one] of Object.entries(value)) {
        if (Array.isArray(one))
          throw badRequest(`${name} is given ${one.length} times in the query; give it once.`);
      }
      if (query) run(query, value, 'query');
    },
    body(value) {
      if (!body) return;
      if (value === undefined) {
        if (operation.body?.required === false) return;
        throw badRequest('The body of the request is empty; it must be a JSON object.');
      }
      run(body, value, 'body');
    },
  };
}

function run(validate: ValidateFunction, value: unknown, part: 'body' | 'query'): void {
  if (!validate(value)) throw badRequest(sentenceFor(validate.errors ?? [], part));
}

/** `$id`s name components of the document; several operations share them, and Ajv takes each only once. */
function withoutIds(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === '$id' ? undefined : value)),
  ) as object;
}
