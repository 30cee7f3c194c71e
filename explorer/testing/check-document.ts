/**
 * Renders every operation of a document, to see what a real one does to the explorer:
 *
 *     node explorer/testing/check-document.ts <openapi.json or .yaml>
 *
 * It counts operations, failures, sentences about what the document lacks, and bytes; and it looks for what is hidden:
 * every description, name, value and extension of an operation must be found in what is shown of it.
 */
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { parse } from 'yaml';
import { listOperations } from '../model/operation/read-operation.ts';
import { loadRenderer } from './load-renderer.ts';
import { findMissingContent } from './missing-content.ts';

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error('Name a document: node explorer/testing/check-document.ts <openapi.json or .yaml>');
  process.exit(1);
}
const text = readFileSync(path, 'utf8');
const document: unknown = path.endsWith('.json') ? JSON.parse(text) : parse(text);
const { renderOperation } = await loadRenderer();

const plain = (html: string) =>
  html
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

const faults = new Map<string, number>();
const failures: string[] = [];
const hidden: string[] = [];
const loose: string[] = [];
const sizes: number[] = [];
let fields = 0;
let compressed = 0;
let longest = 0;
for (const { method, path: at } of listOperations(document)) {
  const name = `${method.toUpperCase()} ${at}`;
  try {
    const started = performance.now();
    const { html, anchors } = renderOperation(document, method, at);
    longest = Math.max(longest, performance.now() - started);
    sizes.push(Buffer.byteLength(html));
    compressed += brotliCompressSync(html).length;
    fields += anchors;
    for (const [, sentence = ''] of html.matchAll(/class="api-fault">([^<]*)</g)) {
      const kind = sentence.replace(/(reference|schema|fields of) \S+/, '$1 …');
      faults.set(kind, (faults.get(kind) ?? 0) + 1);
    }
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    const plainIds = new Set(ids.map((id = '') => plain(id)));
    if (new Set(ids).size !== ids.length) failures.push(`${name}: two elements have one id`);
    for (const [, target = ''] of html.matchAll(/ href="#([^"]*)"/g)) {
      const id = decodeURIComponent(plain(target));
      if (!plainIds.has(id)) loose.push(`${name}: a link leads to ${id}, which is not there`);
    }
    hidden.push(...findMissingContent(document, method, at, html).map((what) => `${name}: ${what}`));
  } catch (error) {
    failures.push(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
sizes.sort((a, b) => a - b);
const sum = sizes.reduce((total, size) => total + size, 0);
console.log({
  operations: sizes.length + failures.length,
  failures: failures.length,
  hidden: hidden.length,
  looseLinks: loose.length,
  faults: Object.fromEntries(faults),
  anchors: fields,
  bytes: { mean: Math.round(sum / sizes.length), median: sizes[sizes.length >> 1], most: sizes.at(-1) },
  brotliMean: Math.round(compressed / sizes.length),
  longestMs: Math.round(longest),
});
for (const line of [...failures, ...loose, ...hidden].slice(0, 20)) console.log(line);
