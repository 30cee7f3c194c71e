import { type Body, type Response, readBody, readResponses } from './answers.ts';
import { type Callback, readCallbacks } from './callbacks.ts';
import { addRest, externalDocs } from './facts.ts';
import { anchorFor, type Block, type Fact, newPage, type Page, type Shared, type Unfolded } from './field.ts';
import { isDict, type Members, memberOf, membersOf, print } from './json.ts';
import { type Parameter, readParameters } from './parameter.ts';
import { follow } from './reference.ts';
import { type Access, readSecurity } from './security.ts';

export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
export type Method = (typeof methods)[number];

/** An operation in the list of a document. */
export type Listed = { method: Method; path: string; id: string; summary: string; tags: readonly string[] };

export type Operation = {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  deprecated: boolean;
  facts: Fact[];
  /** The ways in; empty when the document asks for nothing. */
  security: Access[];
  /** Addresses of the API, with the defaults of their variables put in. */
  servers: { url: string; description: string; blocks: Block[] }[];
  parameters: Parameter[];
  body?: Body;
  responses: Response[];
  callbacks: Callback[];
  blocks: Block[];
  faults: string[];
};

/** Settings of reading: the page the operation stands on, and how many fields are unfolded before others are only named. */
export type ReadingOptions = { page?: Page; fields?: number };

const mostFields = 3000;

function pathItemOf(document: unknown, path: string): unknown {
  return follow(document, memberOf(memberOf(document, 'paths'), path)).value;
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
  const named = memberOf(operation, 'operationId');
  const slug = typeof named === 'string' ? slugOf(named) : '';
  return slug === '' ? slugOf(`${method} ${path}`) : slug;
}

/** Every operation of a document in its order, or those of one tag. */
export function listOperations(document: unknown, tag?: string): Listed[] {
  const paths = memberOf(document, 'paths');
  return Object.keys(isDict(paths) ? paths : {}).flatMap((path) => {
    const item = pathItemOf(document, path);
    return methods.flatMap((method) => {
      const operation = memberOf(item, method);
      if (operation === undefined) return [];
      const list = memberOf(operation, 'tags');
      const tags = Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
      if (tag !== undefined && !tags.includes(tag)) return [];
      const said = memberOf(operation, 'summary');
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
  options: ReadingOptions = {},
): Operation | undefined {
  const lower = method.toLowerCase();
  const item = pathItemOf(document, path);
  if (!methods.some((known) => known === lower)) return undefined;
  const { value: operation, fault } = follow(document, memberOf(item, lower));
  if (operation === undefined && fault === undefined) return undefined;
  const { anchors, unfolded: all } = options.page ?? newPage();
  const unfolded: Unfolded = all.get(document) ?? new Map();
  all.set(document, unfolded);
  const title = titleOf({
    summary: textAt(operation, 'summary') ?? textAt(item, 'summary') ?? '',
    method: lower.toUpperCase(),
    path,
  });
  const shared: Shared = { document, title, anchors, unfolded, left: options.fields ?? mostFields };
  const id = anchorFor(shared, idOf(lower, path, operation));
  const from = membersOf(isDict(operation) ? operation : {});
  const around = membersOf(isDict(item) ? item : {});
  const blocks: Block[] = [];
  if (operation !== undefined && !isDict(operation)) {
    blocks.push({ title: 'The operation in the document', text: print(operation) });
  }
  const facts: Fact[] = [];
  from.text('operationId');
  from.list('tags');
  const docs = externalDocs(from.dict('externalDocs'));
  if (docs) facts.push(docs);
  else if (from.has('externalDocs')) blocks.push({ title: 'More', text: print(from.any('externalDocs')) });
  const parameters = readParameters(shared, id, [around.any('parameters'), from.any('parameters')]);
  const body = from.has('requestBody') ? readBody(shared, id, from.any('requestBody')) : undefined;
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
    security: readSecurity(document, from.list('security')),
    servers,
    parameters,
    ...(body && { body }),
    responses,
    callbacks,
    blocks,
    faults: fault === undefined ? [] : [fault],
  };
  for (const other of methods) around.any(other);
  around.text('summary');
  addRest(from.rest(), blocks);
  addRest(around.rest(), blocks);
  return read;
}

function textAt(value: unknown, key: string): string | undefined {
  const member = memberOf(value, key);
  return typeof member === 'string' ? member : undefined;
}

function textsOf(...texts: (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text.trim() !== '').join('\n\n');
}

/** The servers of the operation, else of its path, else of the document; without any it is the document's own. */
function readServers(from: Members, around: Members, document: unknown): Operation['servers'] {
  const own = from.list('servers');
  const near = around.list('servers');
  const general = memberOf(document, 'servers');
  const [chosen = []] = [own, near, Array.isArray(general) ? general : undefined].filter(
    (list) => list !== undefined && list.length > 0,
  );
  return chosen.map((server: unknown) => {
    const said = membersOf(isDict(server) ? server : { server });
    const blocks: Block[] = [];
    const url = filled(said.text('url') ?? '', memberOf(server, 'variables'));
    const description = said.text('description') ?? '';
    addRest(said.rest(), blocks);
    return { url, description, blocks };
  });
}

function filled(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = memberOf(memberOf(variables, name), 'default');
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
  });
}

/** The heading of an operation: its summary, or its method and path when it has none. */
export function titleOf({ summary, method, path }: Pick<Operation, 'summary' | 'method' | 'path'>): string {
  return summary.trim() === '' ? `${method} ${path}` : summary;
}

/** What readers are told in place of an operation where the name names no document; undefined where it names one. */
export function missingDocument(
  documents: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  if (name === '') return 'No API specified.';
  const document = Object.hasOwn(documents, name) ? documents[name] : undefined;
  return typeof document === 'object' && document !== null ? undefined : 'API specification not found.';
}
