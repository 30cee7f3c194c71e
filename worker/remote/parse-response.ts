/**
 * Checks the responses of the server against the contract before the worker acts on them. A server may lie, and a proxy before it
 * may answer in its place. Ids and hashes of a job become names of files, so none of them may be a path.
 */
import { Ajv } from 'ajv';
import type { Static, TSchema } from 'typebox';

/** A response that is not as the contract says. It is treated like one that did not arrive. */
class InvalidResponseError extends Error {}

// As in the server, the `$id` of a schema names a component of the document, and is none of Ajv.
const ajv = new Ajv({
  ...{ strict: false, strictNumbers: true, schemaId: 'id', validateSchema: false, meta: false },
  formats: { 'date-time': true, password: true },
});

/** Returns a function that returns a value of the schema, and throws InvalidResponseError for any other one. `noun` names it. */
export function createParser<T extends TSchema>(noun: string, schema: T): (value: unknown) => Static<T> {
  const validate = ajv.compile<Static<T>>(schema);
  return (value) => {
    if (validate(value)) return value;
    const [error] = validate.errors ?? [];
    const field = error?.instancePath.slice(1).replaceAll('/', '.') || 'it';
    throw new InvalidResponseError(`${noun} is not as the protocol says: ${field} ${error?.message ?? ''}.`);
  };
}
