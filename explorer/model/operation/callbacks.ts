import {
  createMemberReader,
  formatJson,
  isJsonObject,
  type JsonObject,
  type MemberReader,
} from '../document/json.ts';
import { addUnread } from '../schema/facts.ts';
import { type RawBlock, type ReadContext, reserveAnchor } from '../schema/field.ts';
import { HTTP_METHODS } from './http-methods.ts';
import { type Parameter, readParameters } from './parameters.ts';
import { type RequestBody, type Response, readRequestBody, readResponses } from './request-and-responses.ts';

/** A request that the API makes to its caller. */
export type Callback = {
  id: string;
  name: string;
  method: string;
  /** The address of the request: an expression over values of the caller's request. */
  address: string;
  description: string;
  parameters: Parameter[];
  body?: RequestBody;
  responses: Response[];
  blocks: RawBlock[];
  faults: string[];
};

/** The members of a callback that are known before it is read. */
type CallbackPlace = Pick<Callback, 'name' | 'address'>;

/** Reads the callbacks of an operation: one for every name, address and method. */
export function readCallbacks(shared: ReadContext, operationId: string, from: MemberReader): Callback[] {
  return Object.entries(from.object('callbacks') ?? {}).flatMap(([name, callback]) => {
    const reserveId = () => reserveAnchor(shared, `${operationId}.callback.${name}`);
    const { value: addresses, fault } = shared.document.resolve(callback);
    if (!isJsonObject(addresses))
      return [createUnreadableCallback(reserveId(), { name, address: '' }, { value: addresses, fault })];
    return Object.entries(addresses).flatMap(([address, item]) => {
      const { value, fault: itemFault } = shared.document.resolve(item);
      const methods = HTTP_METHODS.filter((method) => isJsonObject(value) && Object.hasOwn(value, method));
      if (!isJsonObject(value) || methods.length === 0)
        return [createUnreadableCallback(reserveId(), { name, address }, { value, fault: itemFault })];
      return methods.map((method) =>
        readCallback(shared, reserveId(), { name, address, method, item: value }),
      );
    });
  });
}

/** Creates a callback that shows the JSON of the document, or why a reference leads to none. */
function createUnreadableCallback(
  id: string,
  place: CallbackPlace,
  { value, fault }: { value: unknown; fault: string | undefined },
): Callback {
  const blocks = fault === undefined ? [{ title: 'Callback', text: formatJson(value) }] : [];
  const faults = fault === undefined ? [] : [fault];
  return { id, ...place, method: '', description: '', parameters: [], responses: [], blocks, faults };
}

/** Reads the operation of one method in the path item of a callback. */
function readCallback(
  shared: ReadContext,
  id: string,
  { name, address, method, item }: CallbackPlace & { method: string; item: JsonObject },
): Callback {
  const operation = item[method];
  const from = createMemberReader(isJsonObject(operation) ? operation : { operation });
  const fromPath = createMemberReader(item);
  const blocks: RawBlock[] = [];
  const texts = [fromPath, from].flatMap((reader) => [reader.text('summary'), reader.text('description')]);
  const parameters = readParameters(shared, id, [fromPath.any('parameters'), from.any('parameters')]);
  const body = from.has('requestBody') ? readRequestBody(shared, id, from.any('requestBody')) : undefined;
  const responses = readResponses(shared, id, from, blocks);
  // These name the operation for tools, or are further callbacks.
  from.text('operationId');
  from.list('tags');
  for (const other of HTTP_METHODS) fromPath.any(other);
  addUnread(from.unread(), blocks);
  addUnread(fromPath.unread(), blocks);
  return {
    id,
    name,
    method: method.toUpperCase(),
    address,
    description: texts.filter((text) => text !== undefined).join('\n\n'),
    parameters,
    ...(body && { body }),
    responses,
    blocks,
    faults: [],
  };
}
