import { isJsonType } from './content.ts';
import { isDict, print, printShort } from './json.ts';
import type { Operation } from './operation.ts';
import type { Key } from './security.ts';

/** One way of calling an operation; `language` names the grammar for colours. */
export type Sample = { label: string; language: 'bash' | 'python' | 'js'; code: string };

/** What a document does not say of the reader's own server and key. */
export type SampleOptions = {
  /** The address that relative servers stand on. */
  baseUrl?: string;
  /** The environment variable that holds the token. */
  tokenName?: string;
};

type Part = { name: string; value: string };
type Call = {
  method: string;
  url: string;
  headers: Part[];
  /** The headers, user name and the like that hold the token; the value is what stands before it. */
  keys: Key[];
  token: string;
  body?:
    | { kind: 'json'; value: unknown }
    | { kind: 'form' | 'parts'; fields: Part[] }
    | { kind: 'file'; type: string };
};

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'string' ? value : printShort(value);
}

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

/** Every parameter that a call cannot do without has a value: what the document says, or its own name in capitals. */
function callOf(
  operation: Operation,
  { baseUrl = 'https://api.example.org', tokenName = 'API_TOKEN' }: SampleOptions,
): Call {
  const { method, parameters, body, security } = operation;
  const needed = (place: string): Part[] =>
    parameters
      .filter(({ in: at, field }) => at === place && field.required)
      .map(({ name, value }) => ({ name, value: value === undefined ? placeholder(name) : textOf(value) }));
  const keys = [...(security.find((access) => access.length > 0) ?? [])];
  const inQuery = keys.filter(({ kind, place }) => kind === 'key' && place === 'query');
  const query = [
    ...needed('query'),
    ...inQuery.map(({ keyName = '' }) => ({ name: keyName, value: placeholder(keyName) })),
  ];
  const path = needed('path').reduce(
    (text, { name, value }) => text.replaceAll(`{${name}}`, encodeURIComponent(value.toWellFormed())),
    operation.path.replace(/#.*$/, ''),
  );
  const search = query
    .map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`)
    .join('&');
  const joint = path.includes('?') ? '&' : '?';
  const url = `${addressOf(operation, baseUrl)}${path}${search === '' ? '' : `${joint}${search}`}`;
  const cookies = needed('cookie').map(({ name, value }) => `${name}=${value}`);
  const headers = [
    ...needed('header'),
    ...(cookies.length > 0 ? [{ name: 'Cookie', value: cookies.join('; ') }] : []),
  ];
  const content = body?.contents[0];
  const call: Call = {
    method,
    url,
    headers: headers.filter(({ name }) => !/^(authorization|content-type|accept)$/i.test(name)),
    keys: keys.filter((key) => !inQuery.includes(key)),
    token: tokenName,
  };
  if (!body || !content) return call;
  const { mediaType, value } = content;
  const isEmpty = isDict(value) && Object.keys(value).length === 0;
  if (isEmpty && !body.required) return call;
  if (isJsonType(mediaType) && value !== undefined) {
    const type = mediaType === '*/*' ? 'application/json' : mediaType;
    return {
      ...call,
      headers: [...call.headers, { name: 'Content-Type', value: type }],
      body: { kind: 'json', value },
    };
  }
  const fields = isDict(value)
    ? Object.entries(value).map(([name, part]) => ({ name, value: textOf(part) }))
    : [];
  if (/^application\/x-www-form-urlencoded/i.test(mediaType))
    return { ...call, body: { kind: 'form', fields } };
  if (/^multipart\//i.test(mediaType)) return { ...call, body: { kind: 'parts', fields } };
  return {
    ...call,
    headers: [...call.headers, { name: 'Content-Type', value: mediaType }],
    body: { kind: 'file', type: mediaType },
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The name of a header that holds a key, and what stands before the key in it. */
function keyHeader(key: Key): { name: string; before: string } | undefined {
  if (key.kind === 'bearer') return { name: 'Authorization', before: 'Bearer ' };
  if (key.kind !== 'key') return undefined;
  return key.place === 'cookie'
    ? { name: 'Cookie', before: `${key.keyName}=` }
    : { name: key.keyName ?? '', before: '' };
}

function curl({ method, url, headers, keys, token, body }: Call): string {
  const lines = [method === 'GET' ? `curl ${quoted(url)}` : `curl -X ${method} ${quoted(url)}`];
  if (method === 'HEAD') lines[0] = `curl -I ${quoted(url)}`;
  for (const key of keys) {
    const header = keyHeader(key);
    if (header) lines.push(`-H "${header.name}: ${header.before}$${token}"`);
    else if (key.kind === 'basic') lines.push(`-u "$${token}"`);
  }
  for (const { name, value } of headers) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body?.kind === 'json') lines.push(`-d ${quoted(print(body.value))}`);
  if (body?.kind === 'form')
    for (const { name, value } of body.fields) lines.push(`--data-urlencode ${quoted(`${name}=${value}`)}`);
  if (body?.kind === 'parts')
    for (const { name, value } of body.fields) lines.push(`-F ${quoted(`${name}=${value}`)}`);
  if (body?.kind === 'file') lines.push('--data-binary @FILE');
  return lines.join(' \\\n  ');
}

/** A value as Python writes it, indented like JSON. */
function pythonic(value: unknown, indent: string): string {
  const deeper = `${indent}    `;
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${deeper}${pythonic(item, deeper)},\n`).join('')}${indent}]`;
  }
  if (!isDict(value)) return printShort(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  const lines = entries.map(
    ([name, member]) => `${deeper}${printShort(name)}: ${pythonic(member, deeper)},\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

const fromParts = (parts: readonly Part[]) =>
  Object.fromEntries(parts.map(({ name, value }) => [name, value]));

function python({ method, url, headers, keys, token, body }: Call): string {
  const holders = keys.flatMap((key) => keyHeader(key) ?? []);
  const basic = keys.some(({ kind }) => kind === 'basic');
  const environment = `os.environ["${token}"]`;
  const lines = [
    ...holders.map(
      ({ name, before }) =>
        `${printShort(name)}: ${before === '' ? environment : `${printShort(before)} + ${environment}`},`,
    ),
    // `json=` sets the type of the body itself.
    ...headers
      .filter(({ name, value }) => name !== 'Content-Type' || value !== 'application/json')
      .map(({ name, value }) => `${printShort(name)}: ${printShort(value)},`),
  ];
  const given = [
    printShort(method),
    printShort(url),
    ...(lines.length > 0 ? [`headers={\n        ${lines.join('\n        ')}\n    }`] : []),
    ...(basic ? [`auth=tuple(${environment}.split(":", 1))`] : []),
    ...(body?.kind === 'json' ? [`json=${pythonic(body.value, '    ')}`] : []),
    ...(body?.kind === 'form' ? [`data=${pythonic(fromParts(body.fields), '    ')}`] : []),
    ...(body?.kind === 'parts'
      ? [
          `files={\n${body.fields.map(({ name, value }) => `        ${printShort(name)}: (None, ${printShort(value)}),\n`).join('')}    }`,
        ]
      : []),
    ...(body?.kind === 'file' ? ['data=open("FILE", "rb")'] : []),
  ];
  const imports = holders.length > 0 || basic ? 'import os\n\nimport requests' : 'import requests';
  const request = `response = requests.request(\n${given.map((line) => `    ${line},\n`).join('')})`;
  return `${imports}\n\n${request}\nresponse.raise_for_status()\nprint(response.text)`;
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}

function javascript({ method, url, headers, keys, token, body }: Call): string {
  const environment = `process.env.${token}`;
  const lines = [
    ...keys.flatMap((key) => {
      const holder = keyHeader(key);
      if (holder)
        return [
          `${printShort(holder.name)}: ${holder.before === '' ? environment : `\`${holder.before}\${${environment}}\``},`,
        ];
      return key.kind === 'basic' ? [`Authorization: \`Basic \${btoa(${environment})}\`,`] : [];
    }),
    ...headers.map(({ name, value }) => `${printShort(name)}: ${printShort(value)},`),
  ];
  const file = body?.kind === 'file' ? "import { openAsBlob } from 'node:fs';\n\n" : '';
  const form =
    body?.kind === 'parts'
      ? `const form = new FormData();\n${body.fields.map(({ name, value }) => `form.append(${printShort(name)}, ${printShort(value)});\n`).join('')}\n`
      : '';
  const options = [
    ...(method === 'GET' ? [] : [`method: ${printShort(method)},`]),
    ...(lines.length > 0 ? [`headers: {\n    ${lines.join('\n    ')}\n  },`] : []),
    ...(body?.kind === 'json' ? [`body: JSON.stringify(${indented(print(body.value), '  ')}),`] : []),
    ...(body?.kind === 'form'
      ? [`body: new URLSearchParams(${indented(print(fromParts(body.fields)), '  ')}),`]
      : []),
    ...(body?.kind === 'parts' ? ['body: form,'] : []),
    ...(body?.kind === 'file' ? ['body: await openAsBlob("FILE"),'] : []),
  ];
  const second = options.length > 0 ? `, {\n  ${options.join('\n  ')}\n}` : '';
  return `${file}${form}const response = await fetch(${printShort(url)}${second});\nif (!response.ok) throw new Error(await response.text());\nconsole.log(await response.text());`;
}

/** How to call an operation from a shell, from Python and from JavaScript. */
export function samplesOf(operation: Operation, options: SampleOptions = {}): Sample[] {
  const call = callOf(operation, options);
  return [
    { label: 'curl', language: 'bash', code: curl(call) },
    { label: 'Python', language: 'python', code: python(call) },
    { label: 'JavaScript', language: 'js', code: javascript(call) },
  ];
}
