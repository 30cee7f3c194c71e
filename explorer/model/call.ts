import { type Content, isJsonType } from './content.ts';
import { type FormField, isMultipart, isUrlEncoded } from './form-fields.ts';
import { isDict } from './json.ts';
import type { Operation } from './operation.ts';
import type { Parameter } from './parameter.ts';
import type { Key } from './security.ts';
import { inPlace, inQuery, pairsOf, plain } from './written.ts';

/** What a document does not say of the reader's own server and key. */
export type SampleOptions = {
  /** The address that relative servers stand on. */
  baseUrl?: string;
  /** The environment variable that holds the token. */
  tokenName?: string;
};

export type Part = { name: string; value: string };

/** What holds a key: a header, with what stands before the key in it, or a user name and password. */
export type Holder =
  | { kind: 'header'; name: string; before: string; variable: string }
  | { kind: 'basic'; variable: string };

export type CallBody =
  | { kind: 'json'; value: unknown }
  | { kind: 'form' | 'parts'; fields: readonly FormField[] }
  | { kind: 'text'; text: string }
  | { kind: 'file' };

/** One call of an operation, the same for every language. Every header has one place in it. */
export type Call = { method: string; url: string; headers: Part[]; holders: Holder[]; body?: CallBody };

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

function urlOf(operation: Operation, keys: readonly Key[], baseUrl: string): string {
  const path = needed(operation, 'path').reduce(
    (text, { name, value, written }) =>
      text.replaceAll(`{${name}}`, () => inPlace(name, value, written, true)),
    operation.path.replace(/#.*$/, ''),
  );
  const query = needed(operation, 'query').flatMap(({ name, value, written }) =>
    pairsOf(name, value, written).map((pair) => inQuery(pair, written.reserved)),
  );
  const inAddress = keys.filter(({ kind, place }) => kind === 'key' && place === 'query');
  for (const { keyName = '' } of inAddress)
    query.push(inQuery({ name: keyName, pieces: [placeholder(keyName)], joint: ',' }));
  const joint = path.includes('?') ? '&' : '?';
  const search = query.length === 0 ? '' : `${joint}${query.join('&')}`;
  return withoutBraces(`${addressOf(operation, baseUrl)}${path}${search}`);
}

/** The parameters that a call cannot do without, with a value: what the document says, or their name in capitals. */
function needed({ parameters }: Operation, place: string): Parameter[] {
  return parameters
    .filter(({ in: at, field }) => at === place && field.required)
    .map((one) => ({ ...one, value: one.value === undefined ? placeholder(one.name) : one.value }));
}

/** Where the keys of a call go. One key has the variable that the reader knows; several have names of their own. */
function holdersOf(keys: readonly Key[], tokenName: string): Holder[] {
  return keys.flatMap((key): Holder[] => {
    const variable = keys.length === 1 ? tokenName : placeholder(key.name);
    if (key.kind === 'basic') return [{ kind: 'basic', variable }];
    if (key.kind === 'bearer')
      return [{ kind: 'header', name: 'Authorization', before: 'Bearer ', variable }];
    if (key.kind !== 'key' || key.place === 'query') return [];
    const { keyName = '' } = key;
    return key.place === 'cookie'
      ? [{ kind: 'header', name: 'Cookie', before: `${keyName}=`, variable }]
      : [{ kind: 'header', name: keyName, before: '', variable }];
  });
}

/** Every parameter that a call cannot do without has a value: what the document says, or its own name in capitals. */
export function callOf(
  operation: Operation,
  { baseUrl = 'https://api.example.org', tokenName = 'API_TOKEN' }: SampleOptions,
): Call {
  const keys = [...(operation.security.find((access) => access.length > 0) ?? [])];
  const holders = holdersOf(keys, tokenName);
  const cookies = needed(operation, 'cookie').flatMap(({ name, value, written }) =>
    pairsOf(name, value, written).map(plain),
  );
  const line = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const holder = holders.find((one) => one.kind === 'header' && one.name === 'Cookie');
  if (holder?.kind === 'header' && line !== '') holder.before = `${line}; ${holder.before}`;
  const headers = needed(operation, 'header')
    .filter(({ name }) => !/^(authorization|content-type|accept)$/i.test(name))
    .map(({ name, value, written }) => ({ name, value: inPlace(name, value, written, false) }));
  if (!holder && line !== '') headers.push({ name: 'Cookie', value: line });
  const url = urlOf(operation, keys, baseUrl);
  const { type, body } = bodyOf(operation);
  if (type !== undefined) headers.push({ name: 'Content-Type', value: type });
  return { method: operation.method, url, headers, holders, ...(body && { body }) };
}

function bodyOf({ body }: Operation): { type?: string; body?: CallBody } {
  const content = body?.contents[0];
  if (!body || !content) return {};
  const { mediaType, value, form = [] } = content;
  const isEmpty = isDict(value) && Object.keys(value).length === 0;
  if (isEmpty && !body.required) return {};
  if (isUrlEncoded(mediaType)) return { body: { kind: 'form', fields: form } };
  if (isMultipart(mediaType)) return { body: { kind: 'parts', fields: form } };
  if (isJsonType(mediaType) && value !== undefined)
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
