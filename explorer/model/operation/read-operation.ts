import { dereference } from '../document/dereference.ts';
import {
  createMemberReader,
  formatJson,
  getOwnMember,
  isJsonObject,
  type MemberReader,
} from '../document/json.ts';
import {
  createPageState,
  type Fact,
  getDocumentState,
  type PageState,
  type RawBlock,
  type ReadContext,
  reserveAnchor,
} from '../schema/field.ts';
import { addUnread, readExternalDocs } from '../schema/read-schema.ts';
import { HTTP_METHODS } from './http-methods.ts';
import { type Parameter, readParameters } from './parameters.ts';
import {
  type Callback,
  type RequestBody,
  type Response,
  readCallbacks,
  readRequestBody,
  readResponses,
} from './request-and-responses.ts';
import { readSecurityRequirements, type SecurityRequirement } from './security.ts';

type HttpMethod = (typeof HTTP_METHODS)[number];

/** An operation in the list of a document. */
export type OperationSummary = {
  method: HttpMethod;
  path: string;
  id: string;
  summary: string;
  tags: readonly string[];
};

/** An address of the API, with the defaults of its variables filled in. */
type Server = { url: string; description: string; blocks: RawBlock[] };

export type Operation = {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  deprecated: boolean;
  facts: Fact[];
  /** The alternatives of access; empty when the document requires none. */
  security: SecurityRequirement[];
  servers: Server[];
  parameters: Parameter[];
  body?: RequestBody;
  responses: Response[];
  callbacks: Callback[];
  blocks: RawBlock[];
  faults: string[];
};

/** The page that shows the operation, and the number of fields that are unfolded before others are only named. */
type ReadOptions = { page?: PageState; maxFields?: number };

const DEFAULT_MAX_FIELDS = 3000;

function getPathItem(document: unknown, path: string): unknown {
  return dereference(document, getOwnMember(getOwnMember(document, 'paths'), path)).value;
}

/** Formats a name for an anchor: `createRun` becomes `create-run`. */
function formatSlug(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
}

function formatOperationAnchor(method: string, path: string, operation: unknown): string {
  const slug = formatSlug(getText(operation, 'operationId') ?? '');
  return slug === '' ? formatSlug(`${method} ${path}`) : slug;
}

/** Lists the operations of a document, or those with a tag, in the order of the document. */
export function listOperations(document: unknown, tag?: string): OperationSummary[] {
  const paths = getOwnMember(document, 'paths');
  return Object.keys(isJsonObject(paths) ? paths : {}).flatMap((path) => {
    const item = getPathItem(document, path);
    return HTTP_METHODS.flatMap((method) => {
      const operation = getOwnMember(item, method);
      if (operation === undefined) return [];
      const list = getOwnMember(operation, 'tags');
      const tags = Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
      if (tag !== undefined && !tags.includes(tag)) return [];
      const summary = getText(operation, 'summary') ?? `${method.toUpperCase()} ${path}`;
      return [{ method, path, id: formatOperationAnchor(method, path, operation), summary, tags }];
    });
  });
}

/** Reads one operation of a document. Returns undefined when the document has none with this method and path. */
export function readOperation(
  document: unknown,
  method: string,
  path: string,
  options: ReadOptions = {},
): Operation | undefined {
  const lower = method.toLowerCase();
  const item = getPathItem(document, path);
  if (!HTTP_METHODS.some((known) => known === lower)) return undefined;
  const { value: operation, fault } = dereference(document, getOwnMember(item, lower));
  if (operation === undefined && fault === undefined) return undefined;
  const from = createMemberReader(isJsonObject(operation) ? operation : {});
  const fromPath = createMemberReader(isJsonObject(item) ? item : {});
  const heading = {
    method: lower.toUpperCase(),
    path,
    summary: from.text('summary') ?? fromPath.text('summary') ?? '',
  };
  const page = options.page ?? createPageState();
  const shared: ReadContext = {
    ...getDocumentState(page, document),
    title: getOperationTitle(heading),
    anchors: page.anchors,
    remainingFields: options.maxFields ?? DEFAULT_MAX_FIELDS,
  };
  const id = reserveAnchor(shared, formatOperationAnchor(lower, path, operation));
  const blocks: RawBlock[] = [];
  if (operation !== undefined && !isJsonObject(operation)) {
    blocks.push({ title: 'The operation in the document', text: formatJson(operation) });
  }
  const read: Operation = {
    id,
    ...heading,
    description: joinTexts(fromPath.text('description'), from.text('description')),
    deprecated: from.flag('deprecated'),
    facts: readDocumentationLink(from, blocks),
    ...readMessages(shared, id, { from, fromPath, blocks }),
    callbacks: readCallbacks(shared, id, from),
    security: readSecurityRequirements(shared.document, from.list('security')),
    servers: readServers(from, fromPath, document),
    blocks,
    faults: fault === undefined ? [] : [fault],
  };
  // The page shows these elsewhere: the name and groups of the operation, and the other operations of its path.
  from.text('operationId');
  from.list('tags');
  fromPath.text('summary');
  for (const other of HTTP_METHODS) fromPath.any(other);
  addUnread(from.unread(), blocks);
  addUnread(fromPath.unread(), blocks);
  return read;
}

/** Reads the messages of an operation. Their order decides the place where a schema is unfolded first. */
function readMessages(
  shared: ReadContext,
  id: string,
  { from, fromPath, blocks }: { from: MemberReader; fromPath: MemberReader; blocks: RawBlock[] },
): Pick<Operation, 'parameters' | 'body' | 'responses'> {
  const parameters = readParameters(shared, id, [fromPath.any('parameters'), from.any('parameters')]);
  const body = from.has('requestBody') ? readRequestBody(shared, id, from.any('requestBody')) : undefined;
  return { parameters, ...(body && { body }), responses: readResponses(shared, id, from, blocks) };
}

function readDocumentationLink(from: MemberReader, blocks: RawBlock[]): Fact[] {
  const fact = readExternalDocs(from.object('externalDocs'));
  if (fact) return [fact];
  if (from.has('externalDocs')) blocks.push({ title: 'More', text: formatJson(from.any('externalDocs')) });
  return [];
}

function getText(value: unknown, key: string): string | undefined {
  const member = getOwnMember(value, key);
  return typeof member === 'string' ? member : undefined;
}

function joinTexts(...texts: (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text.trim() !== '').join('\n\n');
}

/** Reads the servers of the operation, else those of its path, else those of the document. */
function readServers(from: MemberReader, fromPath: MemberReader, document: unknown): Server[] {
  const own = from.list('servers');
  const ofPath = fromPath.list('servers');
  const ofDocument = getOwnMember(document, 'servers');
  const [chosen = []] = [own, ofPath, Array.isArray(ofDocument) ? ofDocument : undefined].filter(
    (list) => list !== undefined && list.length > 0,
  );
  return chosen.map((server: unknown) => {
    const members = createMemberReader(isJsonObject(server) ? server : { server });
    const blocks: RawBlock[] = [];
    const url = fillVariables(members.text('url') ?? '', getOwnMember(server, 'variables'));
    const description = members.text('description') ?? '';
    addUnread(members.unread(), blocks);
    return { url, description, blocks };
  });
}

function fillVariables(url: string, variables: unknown): string {
  return url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = getOwnMember(getOwnMember(variables, name), 'default');
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
  });
}

/** Returns the heading of an operation: its summary, or its method and path when it has none. */
export function getOperationTitle({
  summary,
  method,
  path,
}: Pick<Operation, 'summary' | 'method' | 'path'>): string {
  return summary.trim() === '' ? `${method} ${path}` : summary;
}

/** Returns the sentence shown in place of an operation when `name` names no document, and undefined otherwise. */
export function describeMissingDocument(
  documents: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  if (name === '') return 'No API specified.';
  const document = Object.hasOwn(documents, name) ? documents[name] : undefined;
  return typeof document === 'object' && document !== null ? undefined : 'API specification not found.';
}
