import { type Body, type Response, readBody, readResponses } from './answers.ts';
import { addRest } from './facts.ts';
import { anchorFor, type Block, type Shared } from './field.ts';
import { isDict, type Members, membersOf, print } from './json.ts';
import { type Parameter, readParameters } from './parameter.ts';
import { follow } from './reference.ts';

/** A call that the API makes to its caller. */
export type Callback = {
  id: string;
  name: string;
  method: string;
  /** Where it goes: an expression over what the caller sent. */
  address: string;
  description: string;
  parameters: Parameter[];
  body?: Body;
  responses: Response[];
  blocks: Block[];
  faults: string[];
};

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** Reads the callbacks of an operation: one for every name, address and method. */
export function readCallbacks(shared: Shared, operationId: string, from: Members): Callback[] {
  return Object.entries(from.dict('callbacks') ?? {}).flatMap(([name, callback]) => {
    const id = `${operationId}.callback.${name}`;
    const { value: addresses, fault } = follow(shared.document, callback);
    if (!isDict(addresses)) return [unread(shared, id, name, { address: '', value: addresses, fault })];
    return Object.entries(addresses).flatMap(([address, item]) => {
      const { value, fault: lost } = follow(shared.document, item);
      if (!isDict(value)) return [unread(shared, id, name, { address, value, fault: lost })];
      const calls = Object.entries(value).filter(([method]) => methods.has(method));
      if (calls.length === 0) return [unread(shared, id, name, { address, value, fault: lost })];
      return calls.map(([method, operation]) =>
        readCall(shared, id, { name, address, method, operation, around: value }),
      );
    });
  });
}

/** What is no callback, as the document has it. */
function unread(
  shared: Shared,
  id: string,
  name: string,
  { address, value, fault }: { address: string; value: unknown; fault: string | undefined },
): Callback {
  const blocks = fault === undefined ? [{ title: 'Callback', text: print(value) }] : [];
  const nothing = { method: '', description: '', parameters: [], responses: [], blocks };
  return { id: anchorFor(shared, id), name, address, ...nothing, faults: fault === undefined ? [] : [fault] };
}

type Call = { name: string; address: string; method: string; operation: unknown; around: object };

function readCall(
  shared: Shared,
  wanted: string,
  { name, address, method, operation, around }: Call,
): Callback {
  const id = anchorFor(shared, wanted);
  const from = membersOf(isDict(operation) ? operation : { operation });
  const outside = membersOf({ ...around });
  const blocks: Block[] = [];
  const texts = [
    outside.text('summary'),
    outside.text('description'),
    from.text('summary'),
    from.text('description'),
  ];
  const parameters = readParameters(shared, id, [outside.any('parameters'), from.any('parameters')]);
  const body = from.has('requestBody') ? readBody(shared, id, from.any('requestBody')) : undefined;
  const responses = readResponses(shared, id, from, blocks);
  from.text('operationId');
  from.list('tags');
  for (const other of methods) outside.any(other);
  addRest(from.rest(), blocks);
  addRest(outside.rest(), blocks);
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
