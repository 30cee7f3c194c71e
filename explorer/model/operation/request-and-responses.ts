import { dereference } from '../document/dereference.ts';
import {
  createMemberReader,
  formatCompactJson,
  formatJson,
  isJsonObject,
  type MemberReader,
} from '../document/json.ts';
import { addUnread, addValue } from '../schema/facts.ts';
import {
  createField,
  type Field,
  type FieldLink,
  type RawBlock,
  type ReadContext,
  reserveAnchor,
} from '../schema/field.ts';
import { type Content, readContents } from './content.ts';
import { readHeader } from './parameters.ts';

export type RequestBody = {
  required: boolean;
  description: string;
  contents: Content[];
  blocks: RawBlock[];
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
  blocks: RawBlock[];
  faults: string[];
  /** The same answer of another operation of the page, where its headers and bodies are. */
  unfoldedAt?: FieldLink;
};

/** Reads the body of a request. */
export function readRequestBody(shared: ReadContext, id: string, value: unknown): RequestBody {
  const { value: body, fault } = dereference(shared.document, value);
  const from = createMemberReader(isJsonObject(body) ? body : {});
  const blocks: RawBlock[] = [];
  if (fault === undefined && !isJsonObject(body)) blocks.push({ title: 'Body', text: formatJson(body) });
  const contents = readContents(shared, from.object('content'), `${id}.body`, 'request');
  const read: RequestBody = {
    required: from.flag('required'),
    description: from.text('description') ?? '',
    contents,
    blocks,
    faults: fault === undefined ? [] : [fault],
  };
  addUnread(from.unread(), blocks);
  return read;
}

/** Reads the answers of an operation by their status. */
export function readResponses(
  shared: ReadContext,
  id: string,
  from: MemberReader,
  blocks: RawBlock[],
): Response[] {
  const responses = from.object('responses');
  if (responses === undefined) return [];
  return Object.entries(responses).flatMap(([status, response]) => {
    if (!status.startsWith('x-')) return [readResponse(shared, id, status, response)];
    blocks.push({ title: 'Also in the document', text: formatJson({ [status]: response }) });
    return [];
  });
}

function readResponse(shared: ReadContext, operationId: string, status: string, value: unknown): Response {
  const { value: response, fault, pointers } = dereference(shared.document, value);
  const id = reserveAnchor(shared, `${operationId}.${status}`);
  const [pointer] = pointers;
  const again = pointer === undefined ? undefined : shared.unfolded.get(pointer);
  if (again && isJsonObject(response)) {
    const { description: said } = response;
    const empty = { headers: [], contents: [], links: [], blocks: [], faults: [] };
    return { id, status, description: typeof said === 'string' ? said : '', ...empty, unfoldedAt: again };
  }
  if (pointer !== undefined && fault === undefined) {
    shared.unfolded.set(pointer, { id, label: `${status} of “${shared.title}”` });
  }
  const from = createMemberReader(isJsonObject(response) ? response : {});
  const blocks: RawBlock[] = [];
  if (fault === undefined && !isJsonObject(response))
    blocks.push({ title: 'Response', text: formatJson(response) });
  const headers = Object.entries(from.object('headers') ?? {}).map(([name, header]) =>
    readHeader(shared, `${id}.header.${name}`, name, header),
  );
  const contents = readContents(shared, from.object('content'), `${id}.body`, 'response');
  const links = Object.entries(from.object('links') ?? {}).map(([name, link]) =>
    readLink(shared, `${id}.link.${name}`, name, link),
  );
  const description = from.text('description') ?? '';
  addUnread(from.unread(), blocks);
  const faults = fault === undefined ? [] : [fault];
  return { id, status, description, headers, contents, links, blocks, faults };
}

/** What can be called next: the operation, and where its parameters come from. */
function readLink(shared: ReadContext, id: string, name: string, link: unknown): Field {
  const field = { ...createField(reserveAnchor(shared, id), name), type: 'link' };
  const { value, fault } = dereference(shared.document, link);
  if (fault !== undefined) field.faults.push(fault);
  if (!isJsonObject(value)) {
    if (fault === undefined) field.blocks.push({ title: 'Link', text: formatJson(value) });
    return field;
  }
  const from = createMemberReader(value);
  field.description = from.text('description') ?? '';
  for (const key of ['operationId', 'operationRef']) {
    const operation = from.text(key);
    if (operation !== undefined) field.facts.push({ label: 'Operation', codes: [operation] });
  }
  const taken = Object.entries(from.object('parameters') ?? {});
  const codes = taken.map(([parameter, source]) => `${parameter} = ${asText(source)}`);
  if (codes.length > 0) field.facts.push({ label: 'Parameters', codes });
  if (from.has('requestBody')) addValue('Body', from.any('requestBody'), field.facts, field.blocks);
  addUnread(from.unread(), field.blocks);
  return field;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : formatCompactJson(value);
}
