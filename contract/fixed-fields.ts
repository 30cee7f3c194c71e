/**
 * The fields of a resource that its update cannot change. Clients send whole objects back, so an update accepts these fields with
 * their present values. It refuses other values, instead of dropping a change without a word.
 */
import type { TSchema } from 'typebox';
import { type Operation, readsJson } from './operation.ts';
import { isRecord } from './schemas/is-record.ts';

/** Fields of resources that other operations change. Times, counts and states are not here: a sent one may be stale. */
const CHANGED_ELSEWHERE = ['members', 'html_assets_trusted', 'subscription_id', 'input_ids'];
/** Its expiry differs between two reads. */
const SIGNED_URL = 'download_url';
/** A field has no effect beside the one that replaces its value. */
const REPLACED_BY: Readonly<Record<string, string>> = { input_ids: 'inputs' };

/** The fixed fields of the resource of an update. */
export interface FixedFields {
  /** Fields with the value of a parameter of the path, and its name. */
  inPath: ReadonlyMap<string, string>;
  /** Fields that a read of the resource shows. */
  visible: readonly string[];
  /** Fields of the creation that no response has. */
  onlyCreated: readonly string[];
  read: Operation;
}

/** Returns the fixed fields; undefined for an operation that updates no resource, and for one that refuses unknown fields. */
export function findFixedFields(
  update: Operation,
  operations: readonly Operation[],
): FixedFields | undefined {
  const isUpdate = (update.method === 'PUT' || update.method === 'PATCH') && readsJson(update);
  const read = operations.find(({ method, path }) => method === 'GET' && path === update.path);
  if (!isUpdate || !read || isClosed(update.body?.schema)) return undefined;
  const collection = update.path.replace(/\/\{\w+\}$/, '');
  const create =
    collection === update.path
      ? undefined
      : operations.find(({ method, path }) => method === 'POST' && path === collection);
  const honoured = new Set(listFields(update.body?.schema));
  const present = [update, read]
    // The read of secrets is an audited action of its own.
    .filter((one) => one.right !== 'read-secrets')
    .flatMap((one) => listFields(one.responses[200]?.schema));
  const created = listFields(create?.body?.schema).filter((name) => !honoured.has(name));
  const inPath = new Map(
    [...mapIds(update.path)].filter(([name]) => present.includes(name) && !honoured.has(name)),
  );
  // The resource of an account itself has no id in its path.
  const fixed = new Set([...created, ...CHANGED_ELSEWHERE, ...(create ? [] : ['id'])]);
  const visible = [...new Set(present)].filter(
    (name) => fixed.has(name) && !honoured.has(name) && !inPath.has(name),
  );
  const onlyCreated = created.filter((name) => !present.includes(name) && !inPath.has(name) && name !== 'id');
  return inPath.size + visible.length + onlyCreated.length === 0
    ? undefined
    : { inPath, visible, onlyCreated, read };
}

/** Yields the names by which a resource shows the ids of its path: its own one, and those of the resources around it. */
function* mapIds(path: string): Generator<[field: string, parameter: string]> {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const parents = parameters.slice(0, path.endsWith('}') ? -1 : undefined);
  for (const parameter of parents) yield [parameter, parameter];
  const application = parents.find((name) => name.endsWith('app_id') || name === 'application_id');
  if (application !== undefined) yield ['app_id', application];
  const own = parameters.at(-1);
  if (own !== undefined && path.endsWith('}')) yield ['id', own];
}

function isClosed(schema: TSchema | undefined): boolean {
  return schema !== undefined && 'additionalProperties' in schema && schema.additionalProperties === false;
}

function listFields(schema: TSchema | undefined): string[] {
  const properties = schema && 'properties' in schema ? schema.properties : undefined;
  return isRecord(properties) ? Object.keys(properties) : [];
}

/** Returns the given fields that may differ from the resource: neither absent nor null, nor replaced by another field. */
export function listReceived(names: Iterable<string>, body: Readonly<Record<string, unknown>>): string[] {
  return [...names].filter((name) => hasValue(body[name]) && !hasValue(body[REPLACED_BY[name] ?? '']));
}

const hasValue = (value: unknown): boolean => value !== undefined && value !== null;

/** Returns true when the value says nothing else than the present one. A client may drop empty fields of objects. */
export function matchesPresent(received: unknown, present: unknown): boolean {
  if (!hasValue(received)) return true;
  if (Array.isArray(received)) {
    const items: unknown = present ?? [];
    return (
      Array.isArray(items) &&
      received.length === items.length &&
      received.every((item, index) => matchesPresent(item, items[index]))
    );
  }
  if (isRecord(received)) {
    const fields = present ?? {};
    return (
      isRecord(fields) &&
      Object.entries(received).every(
        ([name, value]) => name === SIGNED_URL || matchesPresent(value, fields[name]),
      )
    );
  }
  return hasValue(present) ? received === present : received === '' || received === false;
}
