import { type Content, readContents } from './content.ts';
import { addRest, addValue } from './facts.ts';
import { anchorFor, type Block, emptyField, type Field, type Place, type Shared } from './field.ts';
import { isDict, type Members, membersOf, print, printShort } from './json.ts';
import { readHeader } from './parameter.ts';
import { follow } from './reference.ts';

export type Body = {
  required: boolean;
  description: string;
  contents: Content[];
  blocks: Block[];
  faults: string[];
};
export type Response = {
  id: string;
  status: string;
  description: string;
  headers: Field[];
  contents: Content[];
  /** What can be called next, with what the answer says. */
  links: Field[];
  blocks: Block[];
  faults: string[];
  /** The same answer of another operation of the page, where its headers and bodies are. */
  again?: Place;
};

/** Reads the body of a request. */
export function readBody(shared: Shared, id: string, value: unknown): Body {
  const { value: body, fault } = follow(shared.document, value);
  const from = membersOf(isDict(body) ? body : {});
  const blocks: Block[] = [];
  if (fault === undefined && !isDict(body)) blocks.push({ title: 'Body', text: print(body) });
  const contents = readContents(shared, from.dict('content'), `${id}.body`, 'request');
  const read: Body = {
    required: from.flag('required'),
    description: from.text('description') ?? '',
    contents,
    blocks,
    faults: fault === undefined ? [] : [fault],
  };
  addRest(from.rest(), blocks);
  return read;
}

/** Reads the answers of an operation by their status. */
export function readResponses(shared: Shared, id: string, from: Members, blocks: Block[]): Response[] {
  const responses = from.dict('responses');
  if (responses === undefined) return [];
  return Object.entries(responses).flatMap(([status, response]) => {
    if (!status.startsWith('x-')) return [readResponse(shared, id, status, response)];
    blocks.push({ title: 'Also in the document', text: print({ [status]: response }) });
    return [];
  });
}

function readResponse(shared: Shared, operationId: string, status: string, value: unknown): Response {
  const { value: response, fault, pointers } = follow(shared.document, value);
  const id = anchorFor(shared, `${operationId}.${status}`);
  const [pointer] = pointers;
  const again = pointer === undefined ? undefined : shared.unfolded.get(pointer);
  if (again && isDict(response)) {
    const { description: said } = response;
    const empty = { headers: [], contents: [], links: [], blocks: [], faults: [] };
    return { id, status, description: typeof said === 'string' ? said : '', ...empty, again };
  }
  if (pointer !== undefined && fault === undefined) {
    shared.unfolded.set(pointer, { id, label: `${status} of “${shared.title}”` });
  }
  const from = membersOf(isDict(response) ? response : {});
  const blocks: Block[] = [];
  if (fault === undefined && !isDict(response)) blocks.push({ title: 'Response', text: print(response) });
  const headers = Object.entries(from.dict('headers') ?? {}).map(([name, header]) =>
    readHeader(shared, `${id}.header.${name}`, name, header),
  );
  const contents = readContents(shared, from.dict('content'), `${id}.body`, 'response');
  const links = Object.entries(from.dict('links') ?? {}).map(([name, link]) =>
    readLink(shared, `${id}.link.${name}`, name, link),
  );
  const description = from.text('description') ?? '';
  addRest(from.rest(), blocks);
  const faults = fault === undefined ? [] : [fault];
  return { id, status, description, headers, contents, links, blocks, faults };
}

/** What can be called next: the operation, and where its parameters come from. */
function readLink(shared: Shared, id: string, name: string, link: unknown): Field {
  const field = { ...emptyField(anchorFor(shared, id), name), type: 'link' };
  const { value, fault } = follow(shared.document, link);
  if (fault !== undefined) field.faults.push(fault);
  if (!isDict(value)) {
    if (fault === undefined) field.blocks.push({ title: 'Link', text: print(value) });
    return field;
  }
  const from = membersOf(value);
  field.description = from.text('description') ?? '';
  for (const key of ['operationId', 'operationRef']) {
    const operation = from.text(key);
    if (operation !== undefined) field.facts.push({ label: 'Operation', codes: [operation] });
  }
  const taken = Object.entries(from.dict('parameters') ?? {});
  const codes = taken.map(([parameter, source]) => `${parameter} = ${asText(source)}`);
  if (codes.length > 0) field.facts.push({ label: 'Parameters', codes });
  if (from.has('requestBody')) addValue('Body', from.any('requestBody'), field.facts, field.blocks);
  addRest(from.rest(), field.blocks);
  return field;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : printShort(value);
}
