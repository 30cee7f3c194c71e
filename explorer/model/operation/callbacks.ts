import { dereference } from '../document/dereference.ts';
import { createMemberReader, formatJson, isJsonObject, type MemberReader } from '../document/json.ts';
import { addUnread } from '../schema/facts.ts';
import { type RawBlock, type ReadContext, reserveAnchor } from '../schema/field.ts';
import { type Parameter, readParameters } from './parameters.ts';
import { type RequestBody, type Response, readRequestBody, readResponses } from './request-and-responses.ts';

/** A call that the API makes to its caller. */
export type Callback = {
  id: string;
  name: string;
  method: string;
  /** Where it goes: an expression over what the caller sent. */
  address: string;
  description: string;
  parameters: Parameter[];
  body?: RequestBody;
  responses: Response[];
  blocks: RawBlock[];
  faults: string[];
};

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** Reads the callbacks of an operation: one for every name, address and method. */
export function readCallbacks(shared: ReadContext, operationId: string, from: MemberReader): Callback[] {
  return Object.entries(from.object('callbacks') ?? {}).flatMap(([name, callback]) => {
    const id = `${operationId}.callback.${name}`;
    const { value: addresses, fault } = dereference(shared.document, callback);
    if (!isJsonObject(addresses))
      return [createUnreadableCallback(shared, id, name, { address: '', value: addresses, fault })];
    return Object.entries(addresses).flatMap(([address, item]) => {
      const { value, fault: lost } = dereference(shared.document, item);
      if (!isJsonObject(value))
        return [createUnreadableCallback(shared, id, name, { address, value, fault: lost })];
      const calls = Object.entries(value).filter(([method]) => methods.has(method));
      if (calls.length === 0)
        return [createUnreadableCallback(shared, id, name, { address, value, fault: lost })];
      return calls.map(([method, operation]) =>
        readCall(shared, id, { name, address, method, operation, around: value }),
      );
    });
  });
}

/** What is no callback, as the document has it. */
function createUnreadableCallback(
  shared: ReadContext,
  id: string,
  name: string,
  { address, value, fault }: { address: string; value: unknown; fault: string | undefined },
): Callback {
  const blocks = fault === undefined ? [{ title: 'Callback', text: formatJson(value) }] : [];
  const nothing = { method: '', description: '', parameters: [], responses: [], blocks };
  return {
    id: reserveAnchor(shared, id),
    name,
    address,
    ...nothing,
    faults: fault === undefined ? [] : [fault],
  };
}

type Call = { name: string; address: string; method: string; operation: unknown; around: object };

function readCall(
  shared: ReadContext,
  wanted: string,
  { name, address, method, operation, around }: Call,
): Callback {
  const id = reserveAnchor(shared, wanted);
  const from = createMemberReader(isJsonObject(operation) ? operation : { operation });
  const outside = createMemberReader({ ...around });
  const blocks: RawBlock[] = [];
  const texts = [
    outside.text('summary'),
    outside.text('description'),
    from.text('summary'),
    from.text('description'),
  ];
  const parameters = readParameters(shared, id, [outside.any('parameters'), from.any('parameters')]);
  const body = from.has('requestBody') ? readRequestBody(shared, id, from.any('requestBody')) : undefined;
  const responses = readResponses(shared, id, from, blocks);
  from.text('operationId');
  from.list('tags');
  for (const other of methods) outside.any(other);
  addUnread(from.unread(), blocks);
  addUnread(outside.unread(), blocks);
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
