/**
 * Renders every operation of a document, to try the explorer on it:
 *
 *     node explorer/testing/check-document.ts <openapi.json or .yaml>
 *
 * It counts operations, failures, faults of the document, and bytes, and lists missing content: every description, name,
 * value and extension of an operation must be in its HTML.
 */
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { parse } from 'yaml';
import { listOperations } from '../model/operation/read-operation.ts';
import { loadRenderer } from './load-renderer.ts';
import { findMissingContent } from './missing-content.ts';

const MAX_LISTED_FINDINGS = 20;

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error(
    'No document given. Name one: node explorer/testing/check-document.ts <openapi.json or .yaml>',
  );
  process.exit(1);
}
const text = readFileSync(file, 'utf8');
const document: unknown = file.endsWith('.json') ? JSON.parse(text) : parse(text);
const { renderOperation } = await loadRenderer();

function unescapeHtml(html: string): string {
  return html
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

const faults = new Map<string, number>();
const failures: string[] = [];
const missing: string[] = [];
const brokenLinks: string[] = [];
const sizes: number[] = [];
let anchorCount = 0;
let compressedBytes = 0;
let slowestMs = 0;

function checkLinks(name: string, html: string): void {
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => unescapeHtml(id));
  if (new Set(ids).size !== ids.length) failures.push(`${name}: two elements have one id`);
  for (const [, target = ''] of html.matchAll(/ href="#([^"]*)"/g)) {
    const id = decodeURIComponent(unescapeHtml(target));
    if (!ids.includes(id)) brokenLinks.push(`${name}: a link leads to ${id}, which does not exist`);
  }
}

for (const operation of listOperations(document)) {
  const { method, path } = operation;
  const name = `${method.toUpperCase()} ${path}`;
  try {
    const startMs = performance.now();
    const { html, anchors } = renderOperation(document, method, path);
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
    sizes.push(Buffer.byteLength(html));
    compressedBytes += brotliCompressSync(html).length;
    anchorCount += anchors;
    for (const [, message = ''] of html.matchAll(/class="api-fault">([^<]*)</g)) {
      const kind = message.replace(/(reference|schema|fields of) \S+/, '$1 …');
      faults.set(kind, (faults.get(kind) ?? 0) + 1);
    }
    checkLinks(name, html);
    missing.push(...findMissingContent(document, operation, html).map((finding) => `${name}: ${finding}`));
  } catch (error) {
    failures.push(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
sizes.sort((a, b) => a - b);
const totalBytes = sizes.reduce((total, size) => total + size, 0);
console.log({
  operations: sizes.length,
  failures: failures.length,
  missing: missing.length,
  brokenLinks: brokenLinks.length,
  faults: Object.fromEntries(faults),
  anchors: anchorCount,
  bytes: {
    mean: Math.round(totalBytes / sizes.length),
    median: sizes[sizes.length >> 1],
    largest: sizes.at(-1),
  },
  meanBrotliBytes: Math.round(compressedBytes / sizes.length),
  slowestMs: Math.round(slowestMs),
});
for (const finding of [...failures, ...brokenLinks, ...missing].slice(0, MAX_LISTED_FINDINGS))
  console.log(finding);
