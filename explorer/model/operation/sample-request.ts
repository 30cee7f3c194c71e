import { isJsonObject } from '../document/json.ts';
import { type FormField, isMultipart, isUrlEncoded } from '../values/form-fields.ts';
import {
  encodeQueryPair,
  formatPair,
  serializeToHeader,
  serializeToPairs,
  serializeToPath,
} from '../values/serialize-value.ts';
import type { Parameter } from './parameters.ts';
import type { Operation } from './read-operation.ts';
import { type Content, isJsonMediaType } from './request-and-responses.ts';
import type { Credential } from './security.ts';

/** The reader's own server and credential, which no document names. */
export type SampleOptions = {
  /** The address that relative server addresses start from. */
  baseUrl?: string;
  /** The environment variable that holds the token. */
  tokenName?: string;
};

type HeaderEntry = { name: string; value: string };

/** The place of a credential: a header with a text before the credential, or basic authentication. */
export type CredentialPlacement =
  | { kind: 'header'; name: string; prefix: string; environmentVariable: string }
  | { kind: 'basic'; environmentVariable: string };

type SampleRequestBody =
  | { kind: 'json'; value: unknown }
  | { kind: 'form' | 'parts'; fields: readonly FormField[] }
  | { kind: 'text'; text: string }
  | { kind: 'file' };

/** One request of an operation, the same for every language. No header is in both `headers` and `credentials`. */
export type SampleRequest = {
  method: string;
  url: string;
  headers: HeaderEntry[];
  credentials: CredentialPlacement[];
  body?: SampleRequestBody;
};

/** Formats the placeholder of a value: `application_id` becomes `APPLICATION_ID`. */
function formatPlaceholder(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .toUpperCase();
}

/** Returns the first server as a full address without a slash at its end. */
function getServerUrl({ servers }: Operation, baseUrl: string): string {
  const url = servers[0]?.url ?? '/';
  const full =
    /^[a-z][a-z0-9+.-]*:/i.test(url) || url.startsWith('//')
      ? url
      : `${baseUrl.replace(/\/+$/, '')}/${url.replace(/^\/+/, '')}`;
  return full.replace(/\/+$/, '');
}

/** Replaces the names in braces that no parameter fills in, because curl reads braces as patterns. */
function replaceBraces(url: string): string {
  return url.replace(/\{([^{}]*)\}/g, (_, name: string) => encodeURIComponent(formatPlaceholder(name)));
}

function buildUrl(operation: Operation, credentials: readonly Credential[], baseUrl: string): string {
  const path = listRequired(operation, 'path').reduce(
    (text, { name, value, serialization }) =>
      text.replaceAll(`{${name}}`, () => serializeToPath(name, value, serialization)),
    operation.path.replace(/#.*$/, ''),
  );
  const query = listRequired(operation, 'query').flatMap(({ name, value, serialization }) =>
    serializeToPairs(name, value, serialization).map((pair) =>
      encodeQueryPair(pair, serialization.allowReserved),
    ),
  );
  const queryKeys = credentials.filter(({ kind, location }) => kind === 'key' && location === 'query');
  for (const { parameterName: name = '' } of queryKeys)
    query.push(encodeQueryPair({ name, pieces: [formatPlaceholder(name)], separator: ',' }));
  const separator = path.includes('?') ? '&' : '?';
  const search = query.length === 0 ? '' : `${separator}${query.join('&')}`;
  return replaceBraces(`${getServerUrl(operation, baseUrl)}${path}${search}`);
}

/** Lists the required parameters of a location with a value: that of the document, or a placeholder. */
function listRequired({ parameters }: Operation, location: string): Parameter[] {
  return parameters
    .filter(({ in: at, field }) => at === location && field.required)
    .map((one) => ({ ...one, value: one.value === undefined ? formatPlaceholder(one.name) : one.value }));
}

/** Places credentials in a request. A single one comes from the variable `tokenName`, several from their own. */
function placeCredentials(credentials: readonly Credential[], tokenName: string): CredentialPlacement[] {
  return credentials.flatMap(({ kind, location, name, parameterName = '' }): CredentialPlacement[] => {
    const environmentVariable = credentials.length === 1 ? tokenName : formatPlaceholder(name);
    if (kind === 'basic') return [{ kind: 'basic', environmentVariable }];
    if (kind === 'bearer')
      return [{ kind: 'header', name: 'Authorization', prefix: 'Bearer ', environmentVariable }];
    if (kind !== 'key' || location === 'query') return [];
    return location === 'cookie'
      ? [{ kind: 'header', name: 'Cookie', prefix: `${parameterName}=`, environmentVariable }]
      : [{ kind: 'header', name: parameterName, prefix: '', environmentVariable }];
  });
}

/** Builds the request of an operation with its required parameters, the first accepted credentials and its body. */
export function buildSampleRequest(
  operation: Operation,
  { baseUrl = 'https://api.example.org', tokenName = 'API_TOKEN' }: SampleOptions,
): SampleRequest {
  const accepted = operation.security.find((requirement) => requirement.length > 0) ?? [];
  const credentials = placeCredentials(accepted, tokenName);
  const cookies = listRequired(operation, 'cookie').flatMap(({ name, value, serialization }) =>
    serializeToPairs(name, value, serialization).map(formatPair),
  );
  const cookieLine = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const keyCookie = credentials.find((one) => one.kind === 'header' && one.name === 'Cookie');
  if (keyCookie?.kind === 'header' && cookieLine !== '')
    keyCookie.prefix = `${cookieLine}; ${keyCookie.prefix}`;
  const headers = listRequired(operation, 'header')
    .filter(({ name }) => !/^(authorization|content-type|accept)$/i.test(name))
    .map(({ name, value, serialization }) => ({
      name,
      value: serializeToHeader(name, value, serialization),
    }));
  if (!keyCookie && cookieLine !== '') headers.push({ name: 'Cookie', value: cookieLine });
  const url = buildUrl(operation, accepted, baseUrl);
  const { type, body } = buildBody(operation);
  if (type !== undefined) headers.push({ name: 'Content-Type', value: type });
  return { method: operation.method, url, headers, credentials, ...(body && { body }) };
}

function buildBody({ body }: Operation): { type?: string; body?: SampleRequestBody } {
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
  const text = getTextExample(content);
  return { ...type, body: text === undefined ? { kind: 'file' } : { kind: 'text', text } };
}

/** Returns the example of a text body. */
function getTextExample({ mediaType, examples: [first] }: Content): string | undefined {
  const isText = /^text\/|[/+](xml|yaml|csv|jsonl|x-ndjson)\b/i.test(mediaType);
  return isText && first?.language === 'text' ? first.text : undefined;
}
