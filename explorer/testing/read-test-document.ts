import { readOperation } from '../model/operation/read-operation.ts';
import type { Field } from '../model/schema/field.ts';

/** Builds a document with one operation, `POST /things/{id}`, and adds the members of `rest` to the document. */
export function buildDocument(operation: object, rest: object = {}): object {
  return { openapi: '3.0.3', paths: { '/things/{id}': { post: { responses: {}, ...operation } } }, ...rest };
}

/** Reads the operation `POST /things/{id}` and throws when the document has none. */
export function readTestOperation(document: object) {
  const operation = readOperation(document, 'post', '/things/{id}');
  if (!operation)
    throw new Error(
      'The document of the test has no operation POST /things/{id}. Build it with buildDocument.',
    );
  return operation;
}

/** Builds the members of an operation with a JSON body of this schema. */
export const buildJsonBody = (schema: unknown) => ({
  requestBody: { content: { 'application/json': { schema } } },
});

/** Reads the field of a body with this schema, in a document with these named schemas. */
export function readBodyField(schema: unknown, schemas: object = {}): Field {
  const field = readTestOperation(buildDocument(buildJsonBody(schema), { components: { schemas } })).body
    ?.contents[0]?.field;
  if (!field) throw new Error('The operation of the test has no body with a schema.');
  return field;
}

/** Lists the fields directly below a field. */
export function listSubfields(field: Field | undefined): Field[] {
  return (field?.groups ?? []).flatMap(({ fields }) => fields);
}

/** Lists the facts of a field as `label: value`. */
export const listFacts = (field: Field | undefined) =>
  (field?.facts ?? []).map(({ label, text, codes }) => `${label}: ${text ?? codes?.join(', ')}`);
