import {
  createMemberReader,
  formatCompactJson,
  formatJson,
  isJsonObject,
  type JsonObject,
  type MemberReader,
} from '../document/json.ts';
import type { ResolvedDocument } from '../document/resolved-document.ts';
import {
  createField,
  type Field,
  type FieldLink,
  type RawBlock,
  type ReadContext,
  reserveAnchor,
} from '../schema/field.ts';
import { addUnread, addValue, readSchema } from '../schema/read-schema.ts';
import { buildExampleValue, type Direction } from '../values/example-value.ts';
import { buildFormFields, type FormField, isMultipart, isUrlEncoded } from '../values/form-fields.ts';
import { HTTP_METHODS } from './http-methods.ts';
import { type Parameter, readHeader, readParameters } from './parameters.ts';

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
  /** The operations that can be called next with values of the response. */
  links: Field[];
  blocks: RawBlock[];
  faults: string[];
  /** The same response of another operation on the page, which shows its headers and bodies. */
  unfoldedAt?: FieldLink;
};

/** Reads the body of a request; `id` is the anchor of the operation. */
export function readRequestBody(shared: ReadContext, id: string, value: unknown): RequestBody {
  const { value: body, fault } = shared.document.resolve(value);
  const from = createMemberReader(isJsonObject(body) ? body : {});
  const blocks: RawBlock[] = [];
  if (fault === undefined && !isJsonObject(body)) blocks.push({ title: 'Body', text: formatJson(body) });
  const contents = readContents(shared, from.object('content'), { id: `${id}.body`, direction: 'request' });
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

/** Reads the responses of an operation in the order of the document; `id` is the anchor of the operation. */
export function readResponses(
  shared: ReadContext,
  id: string,
  from: MemberReader,
  blocks: RawBlock[],
): Response[] {
  const responses = from.object('responses');
  if (responses === undefined) return [];
  return Object.entries(responses).flatMap(([status, response]) => {
    if (!status.startsWith('x-'))
      return [readResponse(shared, { id: reserveAnchor(shared, `${id}.${status}`), status }, response)];
    blocks.push({ title: 'Also in the document', text: formatJson({ [status]: response }) });
    return [];
  });
}

function readResponse(
  shared: ReadContext,
  { id, status }: Pick<Response, 'id' | 'status'>,
  value: unknown,
): Response {
  const { value: response, fault, pointers } = shared.document.resolve(value);
  const [pointer] = pointers;
  const unfoldedAt = pointer === undefined ? undefined : shared.unfolded.get(pointer);
  if (unfoldedAt && isJsonObject(response)) {
    const description = typeof response.description === 'string' ? response.description : '';
    const empty = { headers: [], contents: [], links: [], blocks: [], faults: [] };
    return { id, status, description, ...empty, unfoldedAt };
  }
  if (pointer !== undefined && fault === undefined) {
    shared.unfolded.set(pointer, { id, label: `${status} of “${shared.title}”` });
  }
  const from = createMemberReader(isJsonObject(response) ? response : {});
  const blocks: RawBlock[] = [];
  if (fault === undefined && !isJsonObject(response))
    blocks.push({ title: 'Response', text: formatJson(response) });
  const headers = Object.entries(from.object('headers') ?? {}).map(([name, header]) =>
    readHeader(shared, createField(reserveAnchor(shared, `${id}.header.${name}`), name), header),
  );
  const contents = readContents(shared, from.object('content'), { id: `${id}.body`, direction: 'response' });
  const links = Object.entries(from.object('links') ?? {}).map(([name, link]) =>
    readLink(shared, createField(reserveAnchor(shared, `${id}.link.${name}`), name), link),
  );
  const description = from.text('description') ?? '';
  addUnread(from.unread(), blocks);
  const faults = fault === undefined ? [] : [fault];
  return { id, status, description, headers, contents, links, blocks, faults };
}

/** Reads a link into `field`: the operation that can be called next, and the sources of its parameters. */
function readLink(shared: ReadContext, field: Field, link: unknown): Field {
  field.type = 'link';
  const { value, fault } = shared.document.resolve(link);
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
  const codes = Object.entries(from.object('parameters') ?? {}).map(
    ([parameter, source]) => `${parameter} = ${formatText(source)}`,
  );
  if (codes.length > 0) field.facts.push({ label: 'Parameters', codes });
  if (from.has('requestBody')) addValue('Body', from.any('requestBody'), field);
  addUnread(from.unread(), field.blocks);
  return field;
}

function formatText(value: unknown): string {
  return typeof value === 'string' ? value : formatCompactJson(value);
}

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

/** An example of a body: part of the document, or generated from the schema. */
export type Example = {
  title: string;
  description: string;
  language: 'json' | 'text';
  text: string;
};

/** A body in one media type. */
export type Content = {
  mediaType: string;
  field: Field;
  examples: Example[];
  blocks: RawBlock[];
  /** The value of the first example, for the code samples. */
  value: unknown;
  /** That value as the fields of a form, when the body is one. */
  form?: FormField[];
};

type DocumentExample = { title: string; description: string; value: unknown };

export function isJsonMediaType(mediaType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(mediaType) || mediaType === '*/*';
}

/** Reads the `content` of a body. `id` is the anchor of the first media type; later ones add their name to it. */
function readContents(
  shared: ReadContext,
  contents: unknown,
  { id, direction }: { id: string; direction: Direction },
): Content[] {
  if (!isJsonObject(contents)) return [];
  return Object.entries(contents).map(([mediaType, media], index) => {
    const field = createField(reserveAnchor(shared, index === 0 ? id : `${id}.${mediaType}`), '');
    return readContent(shared, field, { mediaType, media, direction });
  });
}

function readContent(
  shared: ReadContext,
  field: Field,
  { mediaType, media, direction }: { mediaType: string; media: unknown; direction: Direction },
): Content {
  const { document } = shared;
  const { value: resolved, fault } = document.resolve(media);
  if (fault !== undefined) field.faults.push(fault);
  const blocks: RawBlock[] = [];
  if (!isJsonObject(resolved)) {
    if (resolved !== undefined) addUnreadValue(resolved, blocks);
    return { mediaType, field, examples: [], blocks, value: undefined };
  }
  const from = createMemberReader(resolved);
  const schema = from.any('schema');
  if (from.has('schema')) readSchema(shared, schema, field);
  const documented = from.has('example')
    ? [{ title: '', description: '', value: from.any('example') }]
    : readExamples(document, from.object('examples') ?? {}, blocks);
  addUnread(from.unread(), blocks);
  const [first] = documented;
  const generated = !first && from.has('schema') ? buildExampleValue(document, schema, direction) : undefined;
  const value = first ? first.value : generated;
  const isForm = isUrlEncoded(mediaType) || isMultipart(mediaType);
  return {
    mediaType,
    field,
    examples:
      isJsonMediaType(mediaType) && generated !== undefined
        ? [formatExample({ title: '', description: '', value: generated })]
        : documented.map(formatExample),
    blocks,
    value,
    ...(isForm && { form: buildFormFields(document, { mediaType, media: resolved, value }) }),
  };
}

function addUnreadValue(value: unknown, blocks: RawBlock[]): void {
  blocks.push({ title: 'Also in the document', text: formatJson(value) });
}

function formatExample({ title, description, value }: DocumentExample): Example {
  const isText = typeof value === 'string';
  const text = isText ? value : formatJson(value);
  return { title, description, language: isText ? 'text' : 'json', text };
}

function readExamples(
  document: ResolvedDocument,
  examples: JsonObject,
  blocks: RawBlock[],
): DocumentExample[] {
  return Object.entries(examples).flatMap(([name, example]) => {
    const { value: resolved, fault } = document.resolve(example);
    const from = createMemberReader(isJsonObject(resolved) ? resolved : {});
    const title = from.text('summary') ?? name;
    const description = from.text('description') ?? '';
    if (isJsonObject(resolved) && from.has('value')) {
      const value = from.any('value');
      addUnread(from.unread(), blocks);
      return [{ title, description, value }];
    }
    blocks.push({ title: `Example ${name}`, text: fault ?? formatJson(resolved) });
    return [];
  });
}
