import { formatCompactJson, formatJson, isJsonObject } from '../document/json.ts';
import type { FormField } from '../values/form-fields.ts';
import type { Operation } from './read-operation.ts';
import {
  buildSampleRequest,
  type CredentialPlacement,
  type SampleOptions,
  type SampleRequest,
} from './sample-request.ts';

/** A program that calls an operation; `language` names the grammar of the syntax highlighter. */
export type CodeSample = { label: string; language: 'bash' | 'python' | 'js'; code: string };

export type { SampleOptions } from './sample-request.ts';

/** Quotes a text for the shell, which then reads no character of it. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Escapes a text between double quotes, where the shell reads variables and commands. */
function escapeForShell(text: string): string {
  return text.replace(/["\\$`]/g, '\\$&');
}

function formatCurlCredential(credential: CredentialPlacement): string {
  if (credential.kind === 'basic') return `-u "$${credential.environmentVariable}"`;
  const { name, prefix, environmentVariable } = credential;
  return `-H "${escapeForShell(`${name}: ${prefix}`)}$${environmentVariable}"`;
}

/** Formats a field of a multipart form. curl gives some characters of a text a meaning. */
function formatCurlPart({ name, kind, text }: FormField): string {
  if (kind === 'file') return `-F ${quoteForShell(`${name}=@FILE`)}`;
  if (kind === 'json') {
    const value = /[;,]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
    return `-F ${quoteForShell(`${name}=${value};type=application/json`)}`;
  }
  return /^[@<"]|;/.test(text)
    ? `--form-string ${quoteForShell(`${name}=${text}`)}`
    : `-F ${quoteForShell(`${name}=${text}`)}`;
}

/** Formats a field of a URL-encoded form. curl encodes its value but not its name. */
function formatCurlField({ name, text }: FormField): string {
  const encodedName = /^[\w.~[\]-]+$/.test(name) ? name : encodeURIComponent(name.toWellFormed());
  return `--data-urlencode ${quoteForShell(`${encodedName}=${text}`)}`;
}

function formatCurl({ method, url, headers, credentials, body }: SampleRequest): string {
  const option = method === 'HEAD' ? '-I ' : method === 'GET' && !body ? '' : `-X ${method} `;
  const lines = [`curl ${option}${quoteForShell(url)}`, ...credentials.map(formatCurlCredential)];
  for (const { name, value } of headers) lines.push(`-H ${quoteForShell(`${name}: ${value}`)}`);
  if (body?.kind === 'json') lines.push(`-d ${quoteForShell(formatJson(body.value))}`);
  if (body?.kind === 'form') lines.push(...body.fields.map(formatCurlField));
  if (body?.kind === 'parts') lines.push(...body.fields.map(formatCurlPart));
  if (body?.kind === 'text') lines.push(`--data-raw ${quoteForShell(body.text)}`);
  if (body?.kind === 'file') lines.push('--data-binary @FILE');
  return lines.join(' \\\n  ');
}

/** Formats a value in Python syntax, indented like JSON. */
function formatPythonValue(value: unknown, indent: string): string {
  const deeper = `${indent}    `;
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${deeper}${formatPythonValue(item, deeper)},\n`).join('')}${indent}]`;
  }
  if (!isJsonObject(value)) return formatCompactJson(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  const lines = entries.map(
    ([name, member]) => `${deeper}${formatCompactJson(name)}: ${formatPythonValue(member, deeper)},\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

/** Returns fields as an object, or undefined when two have the same name. */
function toObject(fields: readonly FormField[]): object | undefined {
  const names = new Set(fields.map(({ name }) => name));
  return names.size === fields.length
    ? Object.fromEntries(fields.map(({ name, text }) => [name, text]))
    : undefined;
}

const toPairs = (fields: readonly FormField[]) => fields.map(({ name, text }) => [name, text]);

/** Formats a part as requests expects it: a file, or a tuple of file name, content and media type. */
function formatPythonPart({ name, kind, text }: FormField, isPair: boolean): string {
  const value =
    kind === 'file'
      ? 'open("FILE", "rb")'
      : `(None, ${formatCompactJson(text)}${kind === 'json' ? ', "application/json"' : ''})`;
  return isPair ? `(${formatCompactJson(name)}, ${value})` : `${formatCompactJson(name)}: ${value}`;
}

function formatPythonBody(body: SampleRequest['body']): string[] {
  if (body?.kind === 'json') return [`json=${formatPythonValue(body.value, '    ')}`];
  if (body?.kind === 'form')
    return [`data=${formatPythonValue(toObject(body.fields) ?? toPairs(body.fields), '    ')}`];
  if (body?.kind === 'text') return [`data=${formatCompactJson(body.text)}.encode()`];
  if (body?.kind === 'file') return ['data=open("FILE", "rb")'];
  if (body?.kind !== 'parts') return [];
  const isList = toObject(body.fields) === undefined;
  const lines = body.fields.map((field) => `        ${formatPythonPart(field, isList)},\n`).join('');
  return [isList ? `files=[\n${lines}    ]` : `files={\n${lines}    }`];
}

function formatPython({ method, url, headers, credentials, body }: SampleRequest): string {
  const readVariable = (name: string) => `os.environ["${name}"]`;
  const lines = [
    ...credentials.flatMap((credential) => {
      if (credential.kind === 'basic') return [];
      const { name, prefix, environmentVariable } = credential;
      const text = prefix === '' ? '' : `${formatCompactJson(prefix)} + `;
      return [`${formatCompactJson(name)}: ${text}${readVariable(environmentVariable)},`];
    }),
    // `json=` sets the media type of the body.
    ...headers
      .filter(({ name, value }) => name !== 'Content-Type' || value !== 'application/json')
      .map(({ name, value }) => `${formatCompactJson(name)}: ${formatCompactJson(value)},`),
  ];
  const basic = credentials.find(({ kind }) => kind === 'basic');
  const keywords = [
    formatCompactJson(method),
    formatCompactJson(url),
    ...(lines.length > 0 ? [`headers={\n        ${lines.join('\n        ')}\n    }`] : []),
    ...(basic ? [`auth=tuple(${readVariable(basic.environmentVariable)}.split(":", 1))`] : []),
    ...formatPythonBody(body),
  ];
  const imports = credentials.length > 0 ? 'import os\n\nimport requests' : 'import requests';
  const request = `response = requests.request(\n${keywords.map((line) => `    ${line},\n`).join('')})`;
  return `${imports}\n\n${request}\nresponse.raise_for_status()\nprint(response.text)`;
}

function indent(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}

/** Escapes a text inside a template literal of JavaScript. */
function escapeForTemplate(text: string): string {
  return text.replace(/[`\\]|\$(?=\{)/g, '\\$&');
}

function formatScriptCredential(credential: CredentialPlacement): string {
  const environment = `process.env.${credential.environmentVariable}`;
  if (credential.kind === 'basic') return `Authorization: \`Basic \${btoa(${environment})}\`,`;
  const { name, prefix } = credential;
  return `${formatCompactJson(name)}: ${prefix === '' ? environment : `\`${escapeForTemplate(prefix)}\${${environment}}\``},`;
}

function formatScriptPart({ name, kind, text }: FormField): string {
  if (kind === 'file') return `form.append(${formatCompactJson(name)}, await openAsBlob("FILE"), "FILE");\n`;
  const value =
    kind === 'json'
      ? `new Blob([${formatCompactJson(text)}], { type: "application/json" })`
      : formatCompactJson(text);
  return `form.append(${formatCompactJson(name)}, ${value});\n`;
}

function formatScriptBody(body: SampleRequest['body']): string[] {
  if (body?.kind === 'json') return [`body: JSON.stringify(${indent(formatJson(body.value), '  ')}),`];
  if (body?.kind === 'form') {
    const fields = toObject(body.fields) ?? toPairs(body.fields);
    return [`body: new URLSearchParams(${indent(formatJson(fields), '  ')}),`];
  }
  if (body?.kind === 'parts') return ['body: form,'];
  if (body?.kind === 'text') return [`body: ${formatCompactJson(body.text)},`];
  return body?.kind === 'file' ? ['body: await openAsBlob("FILE"),'] : [];
}

function formatJavaScript({ method, url, headers, credentials, body }: SampleRequest): string {
  const lines = [
    ...credentials.map(formatScriptCredential),
    ...headers.map(({ name, value }) => `${formatCompactJson(name)}: ${formatCompactJson(value)},`),
  ];
  const parts = body?.kind === 'parts' ? body.fields : [];
  const readsFile = body?.kind === 'file' || parts.some(({ kind }) => kind === 'file');
  const file = readsFile ? "import { openAsBlob } from 'node:fs';\n\n" : '';
  const form =
    body?.kind === 'parts' ? `const form = new FormData();\n${parts.map(formatScriptPart).join('')}\n` : '';
  const options = [
    ...(method === 'GET' ? [] : [`method: ${formatCompactJson(method)},`]),
    ...(lines.length > 0 ? [`headers: {\n    ${lines.join('\n    ')}\n  },`] : []),
    ...formatScriptBody(body),
  ];
  const argument = options.length > 0 ? `, {\n  ${options.join('\n  ')}\n}` : '';
  return `${file}${form}const response = await fetch(${formatCompactJson(url)}${argument});\nif (!response.ok) throw new Error(await response.text());\nconsole.log(await response.text());`;
}

/** Builds programs that call an operation from a shell, from Python and from JavaScript. */
export function buildCodeSamples(operation: Operation, options: SampleOptions = {}): CodeSample[] {
  const request = buildSampleRequest(operation, options);
  return [
    { label: 'curl', language: 'bash', code: formatCurl(request) },
    { label: 'Python', language: 'python', code: formatPython(request) },
    { label: 'JavaScript', language: 'js', code: formatJavaScript(request) },
  ];
}
