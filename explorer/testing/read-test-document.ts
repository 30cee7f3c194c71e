import { readOperation } from '../model/operation/read-operation.ts';
import type { Field } from '../model/schema/field.ts';

/** A document with one operation, `POST /things/{id}`, that has these members; `rest` is laid over the document. */
export function buildDocument(operation: object, rest: object = {}): object {
  return { openapi: '3.0.3', paths: { '/things/{id}': { post: { responses: {}, ...operation } } }, ...rest };
}

/** Reads that operation. */
export function readTestOperation(document: object) {
  const operation = readOperation(document, 'post', '/things/{id}');
  if (!operation) throw new Error('The document of the test has no such operation.');
  return operation;
}

/** An operation with a body of this schema. */
export const buildJsonBody = (schema: unknown) => ({
  requestBody: { content: { 'application/json': { schema } } },
});

/** The field of the body for a schema, in a document with these named schemas. */
export function readBodyField(schema: unknown, schemas: object = {}): Field {
  const field = readTestOperation(buildDocument(buildJsonBody(schema), { components: { schemas } })).body
    ?.contents[0]?.field;
  if (!field) throw new Error('The operation of the test has no body.');
  return field;
}

/** The fields right below a field. */
export function listSubfields(field: Field | undefined): Field[] {
  return (field?.groups ?? []).flatMap(({ fields }) => fields);
}

/** What is said of a field beside its type, as `label: value`. */
export const formatFacts = (field: Field | undefined) =>
  (field?.facts ?? []).map(({ label, text, codes }) => `${label}: ${text ?? codes?.join(', ')}`);
