import { formatCompactJson, formatJson, isJsonObject } from '../document/json.ts';
import type { FormField } from '../values/form-fields.ts';
import type { Operation } from './read-operation.ts';
import {
  buildSampleRequest,
  type CredentialPlacement,
  type SampleOptions,
  type SampleRequest,
} from './sample-request.ts';

/** One way of calling an operation; `language` names the grammar for colours. */
export type CodeSample = { label: string; language: 'bash' | 'python' | 'js'; code: string };

export type { SampleOptions } from './sample-request.ts';

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Text between double quotes in which the shell sees variables. */
function open(text: string): string {
  return text.replace(/["\\$`]/g, '\\$&');
}

function curlHolder(holder: CredentialPlacement): string {
  if (holder.kind === 'basic') return `-u "$${holder.environmentVariable}"`;
  return `-H "${open(`${holder.name}: ${holder.prefix}`)}$${holder.environmentVariable}"`;
}

/** A field of a form of parts. curl reads some marks in a text as words to itself. */
function curlPart({ name, kind, text }: FormField): string {
  if (kind === 'file') return `-F ${quoted(`${name}=@FILE`)}`;
  if (kind === 'json') {
    const value = /[;,]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
    return `-F ${quoted(`${name}=${value};type=application/json`)}`;
  }
  return /^[@<"]|;/.test(text)
    ? `--form-string ${quoted(`${name}=${text}`)}`
    : `-F ${quoted(`${name}=${text}`)}`;
}

/** curl encodes the value of a field but takes its name as it is. */
function curlField({ name, text }: FormField): string {
  const written = /^[\w.~[\]-]+$/.test(name) ? name : encodeURIComponent(name.toWellFormed());
  return `--data-urlencode ${quoted(`${written}=${text}`)}`;
}

function curl({ method, url, headers, credentials: holders, body }: SampleRequest): string {
  const how = method === 'HEAD' ? '-I ' : method === 'GET' && !body ? '' : `-X ${method} `;
  const lines = [`curl ${how}${quoted(url)}`, ...holders.map(curlHolder)];
  for (const { name, value } of headers) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body?.kind === 'json') lines.push(`-d ${quoted(formatJson(body.value))}`);
  if (body?.kind === 'form') lines.push(...body.fields.map(curlField));
  if (body?.kind === 'parts') lines.push(...body.fields.map(curlPart));
  if (body?.kind === 'text') lines.push(`--data-raw ${quoted(body.text)}`);
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
  if (!isJsonObject(value)) return formatCompactJson(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  const lines = entries.map(
    ([name, member]) => `${deeper}${formatCompactJson(name)}: ${pythonic(member, deeper)},\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

/** Fields as an object, when no name comes twice. */
function objectOf(fields: readonly FormField[]): object | undefined {
  const names = new Set(fields.map(({ name }) => name));
  return names.size === fields.length
    ? Object.fromEntries(fields.map(({ name, text }) => [name, text]))
    : undefined;
}

const pairsOf = (fields: readonly FormField[]) => fields.map(({ name, text }) => [name, text]);

/** A part is a tuple of the file's name and its content; texts have no name, JSON says what it is. */
function pythonPart({ name, kind, text }: FormField, indexed: boolean): string {
  const value =
    kind === 'file'
      ? 'open("FILE", "rb")'
      : `(None, ${formatCompactJson(text)}${kind === 'json' ? ', "application/json"' : ''})`;
  return indexed ? `(${formatCompactJson(name)}, ${value})` : `${formatCompactJson(name)}: ${value}`;
}

function pythonBody(body: SampleRequest['body']): string[] {
  if (body?.kind === 'json') return [`json=${pythonic(body.value, '    ')}`];
  if (body?.kind === 'form')
    return [`data=${pythonic(objectOf(body.fields) ?? pairsOf(body.fields), '    ')}`];
  if (body?.kind === 'text') return [`data=${formatCompactJson(body.text)}.encode()`];
  if (body?.kind === 'file') return ['data=open("FILE", "rb")'];
  if (body?.kind !== 'parts') return [];
  const isList = objectOf(body.fields) === undefined;
  const lines = body.fields.map((field) => `        ${pythonPart(field, isList)},\n`).join('');
  return [isList ? `files=[\n${lines}    ]` : `files={\n${lines}    }`];
}

function python({ method, url, headers, credentials: holders, body }: SampleRequest): string {
  const environment = (variable: string) => `os.environ["${variable}"]`;
  const lines = [
    ...holders.flatMap((holder) => {
      if (holder.kind === 'basic') return [];
      const prefix = holder.prefix === '' ? '' : `${formatCompactJson(holder.prefix)} + `;
      return [`${formatCompactJson(holder.name)}: ${prefix}${environment(holder.environmentVariable)},`];
    }),
    // `json=` sets the type of the body itself.
    ...headers
      .filter(({ name, value }) => name !== 'Content-Type' || value !== 'application/json')
      .map(({ name, value }) => `${formatCompactJson(name)}: ${formatCompactJson(value)},`),
  ];
  const basic = holders.find(({ kind }) => kind === 'basic');
  const given = [
    formatCompactJson(method),
    formatCompactJson(url),
    ...(lines.length > 0 ? [`headers={\n        ${lines.join('\n        ')}\n    }`] : []),
    ...(basic ? [`auth=tuple(${environment(basic.environmentVariable)}.split(":", 1))`] : []),
    ...pythonBody(body),
  ];
  const imports = holders.length > 0 ? 'import os\n\nimport requests' : 'import requests';
  const request = `response = requests.request(\n${given.map((line) => `    ${line},\n`).join('')})`;
  return `${imports}\n\n${request}\nresponse.raise_for_status()\nprint(response.text)`;
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}

/** Text inside a template of JavaScript. */
function template(text: string): string {
  return text.replace(/[`\\]|\$(?=\{)/g, '\\$&');
}

function scriptHolder(holder: CredentialPlacement): string {
  const environment = `process.env.${holder.environmentVariable}`;
  if (holder.kind === 'basic') return `Authorization: \`Basic \${btoa(${environment})}\`,`;
  const { name, prefix } = holder;
  return `${formatCompactJson(name)}: ${prefix === '' ? environment : `\`${template(prefix)}\${${environment}}\``},`;
}

function scriptPart({ name, kind, text }: FormField): string {
  if (kind === 'file') return `form.append(${formatCompactJson(name)}, await openAsBlob("FILE"), "FILE");\n`;
  const value =
    kind === 'json'
      ? `new Blob([${formatCompactJson(text)}], { type: "application/json" })`
      : formatCompactJson(text);
  return `form.append(${formatCompactJson(name)}, ${value});\n`;
}

function scriptBody(body: SampleRequest['body']): string[] {
  if (body?.kind === 'json') return [`body: JSON.stringify(${indented(formatJson(body.value), '  ')}),`];
  if (body?.kind === 'form') {
    const fields = objectOf(body.fields) ?? pairsOf(body.fields);
    return [`body: new URLSearchParams(${indented(formatJson(fields), '  ')}),`];
  }
  if (body?.kind === 'parts') return ['body: form,'];
  if (body?.kind === 'text') return [`body: ${formatCompactJson(body.text)},`];
  return body?.kind === 'file' ? ['body: await openAsBlob("FILE"),'] : [];
}

function javascript({ method, url, headers, credentials: holders, body }: SampleRequest): string {
  const lines = [
    ...holders.map(scriptHolder),
    ...headers.map(({ name, value }) => `${formatCompactJson(name)}: ${formatCompactJson(value)},`),
  ];
  const parts = body?.kind === 'parts' ? body.fields : [];
  const reads = body?.kind === 'file' || parts.some(({ kind }) => kind === 'file');
  const file = reads ? "import { openAsBlob } from 'node:fs';\n\n" : '';
  const form =
    body?.kind === 'parts' ? `const form = new FormData();\n${parts.map(scriptPart).join('')}\n` : '';
  const options = [
    ...(method === 'GET' ? [] : [`method: ${formatCompactJson(method)},`]),
    ...(lines.length > 0 ? [`headers: {\n    ${lines.join('\n    ')}\n  },`] : []),
    ...scriptBody(body),
  ];
  const second = options.length > 0 ? `, {\n  ${options.join('\n  ')}\n}` : '';
  return `${file}${form}const response = await fetch(${formatCompactJson(url)}${second});\nif (!response.ok) throw new Error(await response.text());\nconsole.log(await response.text());`;
}

/** How to call an operation from a shell, from Python and from JavaScript. */
export function buildCodeSamples(operation: Operation, options: SampleOptions = {}): CodeSample[] {
  const call = buildSampleRequest(operation, options);
  return [
    { label: 'curl', language: 'bash', code: curl(call) },
    { label: 'Python', language: 'python', code: python(call) },
    { label: 'JavaScript', language: 'js', code: javascript(call) },
  ];
}
