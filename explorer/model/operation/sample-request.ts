import { isJsonObject } from '../document/json.ts';
import { type FormField, isMultipart, isUrlEncoded } from '../values/form-fields.ts';
import {
  encodeQueryPair,
  formatPair,
  serializePathOrHeader,
  serializeToPairs,
} from '../values/serialize-value.ts';
import { type Content, isJsonMediaType } from './content.ts';
import type { Parameter } from './parameters.ts';
import type { Operation } from './read-operation.ts';
import type { Credential } from './security.ts';

/** What a document does not say of the reader's own server and key. */
export type SampleOptions = {
  /** The address that relative servers stand on. */
  baseUrl?: string;
  /** The environment variable that holds the token. */
  tokenName?: string;
};

export type HeaderEntry = { name: string; value: string };

/** What holds a key: a header, with what stands before the key in it, or a user name and password. */
export type CredentialPlacement =
  | { kind: 'header'; name: string; prefix: string; environmentVariable: string }
  | { kind: 'basic'; environmentVariable: string };

export type SampleRequestBody =
  | { kind: 'json'; value: unknown }
  | { kind: 'form' | 'parts'; fields: readonly FormField[] }
  | { kind: 'text'; text: string }
  | { kind: 'file' };

/** One call of an operation, the same for every language. Every header has one place in it. */
export type SampleRequest = {
  method: string;
  url: string;
  headers: HeaderEntry[];
  credentials: CredentialPlacement[];
  body?: SampleRequestBody;
};

/** A name to put a value in the place of: `{application_id}` is `APPLICATION_ID`. */
function placeholder(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .toUpperCase();
}

/** The first server as a full address without a slash at its end. */
function addressOf({ servers }: Operation, baseUrl: string): string {
  const url = servers[0]?.url ?? '/';
  const full =
    /^[a-z][a-z0-9+.-]*:/i.test(url) || url.startsWith('//')
      ? url
      : `${baseUrl.replace(/\/+$/, '')}/${url.replace(/^\/+/, '')}`;
  return full.replace(/\/+$/, '');
}

/** Names that nothing has a value for; braces would also be taken for patterns by curl. */
function withoutBraces(url: string): string {
  return url.replace(/\{([^{}]*)\}/g, (_, name: string) => encodeURIComponent(placeholder(name)));
}

function urlOf(operation: Operation, keys: readonly Credential[], baseUrl: string): string {
  const path = needed(operation, 'path').reduce(
    (text, { name, value, serialization: written }) =>
      text.replaceAll(`{${name}}`, () => serializePathOrHeader(name, value, written, true)),
    operation.path.replace(/#.*$/, ''),
  );
  const query = needed(operation, 'query').flatMap(({ name, value, serialization: written }) =>
    serializeToPairs(name, value, written).map((pair) => encodeQueryPair(pair, written.allowReserved)),
  );
  const inAddress = keys.filter(({ kind, location: place }) => kind === 'key' && place === 'query');
  for (const { parameterName: keyName = '' } of inAddress)
    query.push(encodeQueryPair({ name: keyName, pieces: [placeholder(keyName)], separator: ',' }));
  const separator = path.includes('?') ? '&' : '?';
  const search = query.length === 0 ? '' : `${separator}${query.join('&')}`;
  return withoutBraces(`${addressOf(operation, baseUrl)}${path}${search}`);
}

/** The parameters that a call cannot do without, with a value: what the document says, or their name in capitals. */
function needed({ parameters }: Operation, place: string): Parameter[] {
  return parameters
    .filter(({ in: at, field }) => at === place && field.required)
    .map((one) => ({ ...one, value: one.value === undefined ? placeholder(one.name) : one.value }));
}

/** Where the keys of a call go. One key has the variable that the reader knows; several have names of their own. */
function holdersOf(keys: readonly Credential[], tokenName: string): CredentialPlacement[] {
  return keys.flatMap((key): CredentialPlacement[] => {
    const variable = keys.length === 1 ? tokenName : placeholder(key.name);
    if (key.kind === 'basic') return [{ kind: 'basic', environmentVariable: variable }];
    if (key.kind === 'bearer')
      return [{ kind: 'header', name: 'Authorization', prefix: 'Bearer ', environmentVariable: variable }];
    if (key.kind !== 'key' || key.location === 'query') return [];
    const { parameterName: keyName = '' } = key;
    return key.location === 'cookie'
      ? [{ kind: 'header', name: 'Cookie', prefix: `${keyName}=`, environmentVariable: variable }]
      : [{ kind: 'header', name: keyName, prefix: '', environmentVariable: variable }];
  });
}

/** Every parameter that a call cannot do without has a value: what the document says, or its own name in capitals. */
export function buildSampleRequest(
  operation: Operation,
  { baseUrl = 'https://api.example.org', tokenName = 'API_TOKEN' }: SampleOptions,
): SampleRequest {
  const keys = [...(operation.security.find((access) => access.length > 0) ?? [])];
  const holders = holdersOf(keys, tokenName);
  const cookies = needed(operation, 'cookie').flatMap(({ name, value, serialization: written }) =>
    serializeToPairs(name, value, written).map(formatPair),
  );
  const line = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const holder = holders.find((one) => one.kind === 'header' && one.name === 'Cookie');
  if (holder?.kind === 'header' && line !== '') holder.prefix = `${line}; ${holder.prefix}`;
  const headers = needed(operation, 'header')
    .filter(({ name }) => !/^(authorization|content-type|accept)$/i.test(name))
    .map(({ name, value, serialization: written }) => ({
      name,
      value: serializePathOrHeader(name, value, written, false),
    }));
  if (!holder && line !== '') headers.push({ name: 'Cookie', value: line });
  const url = urlOf(operation, keys, baseUrl);
  const { type, body } = bodyOf(operation);
  if (type !== undefined) headers.push({ name: 'Content-Type', value: type });
  return { method: operation.method, url, headers, credentials: holders, ...(body && { body }) };
}

function bodyOf({ body }: Operation): { type?: string; body?: SampleRequestBody } {
  const content = body?.contents[0];
  if (!body || !content) return {};
  const { mediaType, value, form = [] } = content;
  const isEmpty = isJsonObject(value) && Object.keys(value).length === 0;
  if (isEmpty && !body.required) return {};
  if (isUrlEncoded(mediaType)) return { body: { kind: 'form', fields: form } };
  if (isMultipart(mediaType)) return { body: { kind: 'parts', fields: form } };
  if (isJsonMediaType(mediaType) && value !== undefined)
    return { type: mediaType === '*/*' ? 'application/json' : mediaType, body: { kind: 'json', value } };
  const type = mediaType.includes('*') ? {} : { type: mediaType };
  const text = textGiven(content);
  return { ...type, body: text === undefined ? { kind: 'file' } : { kind: 'text', text } };
}

/** The example of a body of text. */
function textGiven({ mediaType, examples: [first] }: Content): string | undefined {
  const isText = /^text\/|[/+](xml|yaml|csv|jsonl|x-ndjson)\b/i.test(mediaType);
  return isText && first?.language === 'text' ? first.text : undefined;
}
