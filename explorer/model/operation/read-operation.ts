import { dereference } from '../document/dereference.ts';
import {
  createMemberReader,
  formatJson,
  getOwnMember,
  isJsonObject,
  type MemberReader,
} from '../document/json.ts';
import { addUnread, readExternalDocs } from '../schema/facts.ts';
import {
  createPageState,
  type Fact,
  type PageState,
  type RawBlock,
  type ReadContext,
  reserveAnchor,
  type UnfoldedSchemas,
} from '../schema/field.ts';
import { type Callback, readCallbacks } from './callbacks.ts';
import { type Parameter, readParameters } from './parameters.ts';
import { type RequestBody, type Response, readRequestBody, readResponses } from './request-and-responses.ts';
import { readSecurityRequirements, type SecurityRequirement } from './security.ts';

export const HTTP_METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** An operation in the list of a document. */
export type OperationSummary = {
  method: HttpMethod;
  path: string;
  id: string;
  summary: string;
  tags: readonly string[];
};

export type Operation = {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  deprecated: boolean;
  facts: Fact[];
  /** The ways in; empty when the document asks for nothing. */
  security: SecurityRequirement[];
  /** Addresses of the API, with the defaults of their variables put in. */
  servers: { url: string; description: string; blocks: RawBlock[] }[];
  parameters: Parameter[];
  body?: RequestBody;
  responses: Response[];
  callbacks: Callback[];
  blocks: RawBlock[];
  faults: string[];
};

/** Settings of reading: the page the operation stands on, and how many fields are unfolded before others are only named. */
export type ReadOptions = { page?: PageState; maxFields?: number };

const mostFields = 3000;

function pathItemOf(document: unknown, path: string): unknown {
  return dereference(document, getOwnMember(getOwnMember(document, 'paths'), path)).value;
}

/** A name for addresses: `createRun` is `create-run`. */
function slugOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
}

function idOf(method: string, path: string, operation: unknown): string {
  const named = getOwnMember(operation, 'operationId');
  const slug = typeof named === 'string' ? slugOf(named) : '';
  return slug === '' ? slugOf(`${method} ${path}`) : slug;
}

/** Every operation of a document in its order, or those of one tag. */
export function listOperations(document: unknown, tag?: string): OperationSummary[] {
  const paths = getOwnMember(document, 'paths');
  return Object.keys(isJsonObject(paths) ? paths : {}).flatMap((path) => {
    const item = pathItemOf(document, path);
    return HTTP_METHODS.flatMap((method) => {
      const operation = getOwnMember(item, method);
      if (operation === undefined) return [];
      const list = getOwnMember(operation, 'tags');
      const tags = Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
      if (tag !== undefined && !tags.includes(tag)) return [];
      const said = getOwnMember(operation, 'summary');
      const summary = typeof said === 'string' ? said : `${method.toUpperCase()} ${path}`;
      return [{ method, path, id: idOf(method, path, operation), summary, tags }];
    });
  });
}

/** Reads one operation of a document; undefined when the document has none of this method and path. */
export function readOperation(
  document: unknown,
  method: string,
  path: string,
  options: ReadOptions = {},
): Operation | undefined {
  const lower = method.toLowerCase();
  const item = pathItemOf(document, path);
  if (!HTTP_METHODS.some((known) => known === lower)) return undefined;
  const { value: operation, fault } = dereference(document, getOwnMember(item, lower));
  if (operation === undefined && fault === undefined) return undefined;
  const { anchors, unfolded: all } = options.page ?? createPageState();
  const unfolded: UnfoldedSchemas = all.get(document) ?? new Map();
  all.set(document, unfolded);
  const title = getOperationTitle({
    summary: textAt(operation, 'summary') ?? textAt(item, 'summary') ?? '',
    method: lower.toUpperCase(),
    path,
  });
  const shared: ReadContext = {
    document,
    title,
    anchors,
    unfolded,
    remainingFields: options.maxFields ?? mostFields,
  };
  const id = reserveAnchor(shared, idOf(lower, path, operation));
  const from = createMemberReader(isJsonObject(operation) ? operation : {});
  const around = createMemberReader(isJsonObject(item) ? item : {});
  const blocks: RawBlock[] = [];
  if (operation !== undefined && !isJsonObject(operation)) {
    blocks.push({ title: 'The operation in the document', text: formatJson(operation) });
  }
  const facts: Fact[] = [];
  from.text('operationId');
  from.list('tags');
  const docs = readExternalDocs(from.object('externalDocs'));
  if (docs) facts.push(docs);
  else if (from.has('externalDocs'))
    blocks.push({ title: 'More', text: formatJson(from.any('externalDocs')) });
  const parameters = readParameters(shared, id, [around.any('parameters'), from.any('parameters')]);
  const body = from.has('requestBody') ? readRequestBody(shared, id, from.any('requestBody')) : undefined;
  const responses = readResponses(shared, id, from, blocks);
  const callbacks = readCallbacks(shared, id, from);
  const servers = readServers(from, around, document);
  const read: Operation = {
    id,
    method: lower.toUpperCase(),
    path,
    summary: from.text('summary') ?? around.text('summary') ?? '',
    description: textsOf(around.text('description'), from.text('description')),
    deprecated: from.flag('deprecated'),
    facts,
    security: readSecurityRequirements(document, from.list('security')),
    servers,
    parameters,
    ...(body && { body }),
    responses,
    callbacks,
    blocks,
    faults: fault === undefined ? [] : [fault],
  };
  for (const other of HTTP_METHODS) around.any(other);
  around.text('summary');
  addUnread(from.unread(), blocks);
  addUnread(around.unread(), blocks);
  return read;
}

function textAt(value: unknown, key: string): string | undefined {
  const member = getOwnMember(value, key);
  return typeof member === 'string' ? member : undefined;
}

function textsOf(...texts: (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text.trim() !== '').join('\n\n');
}

/** The servers of the operation, else of its path, else of the document; without any it is the document's own. */
function readServers(from: MemberReader, around: MemberReader, document: unknown): Operation['servers'] {
  const own = from.list('servers');
  const near = around.list('servers');
  const general = getOwnMember(document, 'servers');
  const [chosen = []] = [own, near, Array.isArray(general) ? general : undefined].filter(
    (list) => list !== undefined && list.length > 0,
  );
  return chosen.map((server: unknown) => {
    const said = createMemberReader(isJsonObject(server) ? server : { server });
    const blocks: RawBlock[] = [];
    const url = filled(said.text('url') ?? '', getOwnMember(server, 'variables'));
    const description = said.text('description') ?? '';
    addUnread(said.unread(), blocks);
    return { url, description, blocks };
  });
}

function filled(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = getOwnMember(getOwnMember(variables, name), 'default');
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
  });
}

/** The heading of an operation: its summary, or its method and path when it has none. */
export function getOperationTitle({
  summary,
  method,
  path,
}: Pick<Operation, 'summary' | 'method' | 'path'>): string {
  return summary.trim() === '' ? `${method} ${path}` : summary;
}

/** What readers are told in place of an operation where the name names no document; undefined where it names one. */
export function describeMissingDocument(
  documents: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  if (name === '') return 'No API specified.';
  const document = Object.hasOwn(documents, name) ? documents[name] : undefined;
  return typeof document === 'object' && document !== null ? undefined : 'API specification not found.';
}
