/** Reads the ids of created resources from the response to a POST, for the audit entry. */
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';

/** Fields of a response that hold an id and have its name. */
const ID_FIELDS = ['run_id', 'upload_id', 'event_id', 'subscription_id'];
/** Fields of a response that hold a whole resource. */
const RESOURCE_FIELDS = ['account', 'member', 'key'];

const allOperations: Operation[] = Object.values(operations);

/** The name of the path parameter below each collection: `/v1/applications` has `application_id`. */
const ID_NAMES = new Map(
  allOperations.flatMap(({ path }) => {
    const [, collection, name] = /^(.*)\/\{(\w+)\}$/.exec(path) ?? [];
    return collection === undefined || name === undefined ? [] : [[collection, name] as const];
  }),
);

/** Returns the ids in the body of a response by their names in paths, such as `run_id`; empty when it has none. */
export function createdIds({ path }: Operation, body: unknown): Record<string, string> {
  const ids: Record<string, string> = {};
  if (typeof body !== 'object' || body === null) return ids;
  const fields: Record<string, unknown> = { ...body };
  const name = ID_NAMES.get(path);
  if (name && typeof fields.id === 'string') ids[name] = fields.id;
  for (const field of ID_FIELDS) {
    const id = fields[field];
    if (typeof id === 'string' && id !== '') ids[field] = id;
  }
  for (const field of RESOURCE_FIELDS) {
    const resource = fields[field];
    if (typeof resource !== 'object' || resource === null || !('id' in resource)) continue;
    if (typeof resource.id === 'string') ids[`${field}_id`] = resource.id;
  }
  return ids;
}
