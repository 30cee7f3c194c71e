import Markdoc, { type Node, type Schema } from '@markdoc/markdoc';
import cloud from '@switchyard/contract/openapi/cloud.json' with { type: 'json' };
import marketplace from '@switchyard/contract/openapi/marketplace.json' with { type: 'json' };
import { BUILD_ADDRESS } from '@switchyard/contract/site/site-address.ts';
import { buildCodeSamples } from '@switchyard/explorer/model/operation/code-samples.ts';
import {
  describeMissingDocument,
  getOperationTitle,
  listOperations,
  type Operation,
  type OperationSummary,
  readOperation,
} from '@switchyard/explorer/model/operation/read-operation.ts';
import type { Content } from '@switchyard/explorer/model/operation/request-and-responses.ts';
import { createPageState } from '@switchyard/explorer/model/schema/field.ts';
import type { HighlightedCode } from '../../page-data.ts';
import type { MarkupContext } from './markup-context.ts';

/** The grammars that operations need. */
export const SAMPLE_LANGUAGES = ['bash', 'python', 'js', 'json'];

/** The samples call a server that `npm start` started, with the token that the quickstarts export. */
const sampleOptions = { baseUrl: BUILD_ADDRESS, tokenName: 'SWITCHYARD_TOKEN' };

/** The API documents that a page can name. */
const API_DOCUMENTS: Readonly<Record<string, unknown>> = { cloud, marketplace };

/** Lists the operations that a `swagger` tag names: one by `method` and `path`, or all of a `tag`. */
export function listTagOperations({ attributes }: Node): (OperationSummary & { spec: string })[] {
  const { spec, method, path, tag } = attributes;
  if (typeof spec !== 'string' || !Object.hasOwn(API_DOCUMENTS, spec)) return [];
  return listOperations(API_DOCUMENTS[spec], typeof tag === 'string' ? tag : undefined)
    .filter((one) => tag !== undefined || (one.method === String(method).toLowerCase() && one.path === path))
    .map((one) => ({ ...one, spec }));
}

type TagOperation = { spec: string; operation: Operation; isRepeated: boolean };

/** Reads the operations that a tag names; `isRepeated` for one that is on the page already. */
export function readTagOperations(node: Node, page = createPageState()): TagOperation[] {
  return listTagOperations(node).flatMap(({ spec, method, path, id }) => {
    const operation = readOperation(API_DOCUMENTS[spec], method, path, { page });
    return operation ? [{ spec, operation, isRepeated: operation.id !== id }] : [];
  });
}

/** Returns the message in place of a tag that names no API, or an unknown one; undefined for any other tag. */
export function describeMissingApi({ attributes }: Node): string | undefined {
  const name = String(attributes.spec ?? '');
  return describeMissingDocument(API_DOCUMENTS, name.trim() === '' ? '' : name);
}

/** Returns why a tag names no operation of its API, as a sentence; undefined when it names one. */
function findFault({ attributes }: Node): string | undefined {
  const { spec, method, path, tag } = attributes;
  const document = API_DOCUMENTS[String(spec)];
  if (tag !== undefined) {
    if (method !== undefined || path !== undefined) {
      return 'A swagger tag has either "tag", or "method" and "path"; this one has both.';
    }
    const tags = new Set(listOperations(document).flatMap((operation) => operation.tags));
    if (tags.has(String(tag))) return undefined;
    return `The API "${spec}" has no operation with the tag "${tag}"; its tags are ${[...tags].join(', ')}.`;
  }
  if (method === undefined || path === undefined) {
    return 'A swagger tag needs "method" and "path" of one operation, or a "tag" for all that have it.';
  }
  if (readOperation(document, String(method), String(path))) return undefined;
  const there = listOperations(document).filter((operation) => operation.path === path);
  const hint =
    there.length > 0 ? `the path has ${there.map((one) => one.method).join(', ')}` : 'it has no such path';
  return `The API "${spec}" has no operation "${method} ${path}"; ${hint}.`;
}

/** Lists the examples of an operation, which the page shows in coloured code blocks. */
function listCodes({ body, responses }: Operation): { language: string; code: string }[] {
  const contents: Content[] = [
    ...(body?.contents ?? []),
    ...responses.flatMap((response) => response.contents),
  ];
  return contents.flatMap(({ examples }) => examples.map(({ language, text }) => ({ language, code: text })));
}

/**
 * Operations of the API document `spec`, rendered by the explorer. Each is a heading of `level` 2 or 3 in the contents
 * list of the page.
 */
export function createSwaggerSchema(context: MarkupContext): Schema {
  return {
    selfClosing: true,
    attributes: {
      spec: { type: String },
      method: { type: String },
      path: { type: String },
      tag: { type: String },
      level: { type: Number },
    },
    transform(node) {
      const missing = describeMissingApi(node);
      if (missing !== undefined) {
        const name = JSON.stringify(node.attributes.spec ?? '');
        const known = Object.keys(API_DOCUMENTS).join(', ');
        context.warn(
          node,
          `A swagger tag has the spec ${name}; use one of ${known}. The page shows "${missing}"`,
        );
        return new Markdoc.Tag('MissingApi', { message: missing });
      }
      const wrong = findFault(node);
      if (wrong !== undefined) context.report(node, wrong);
      const { level = 3 } = node.attributes;
      if (level !== 2 && level !== 3) {
        context.report(node, `The level of a swagger tag is ${level}; write 2 or 3.`);
        return null;
      }
      return readTagOperations(node, context.operations).map(({ operation, isRepeated }) => {
        const { id } = operation;
        const text = getOperationTitle(operation);
        if (level === 3 && context.contents.length === 0) {
          context.report(
            node,
            `The operation "${text}" is a heading of level 3 but follows none of level 2; write level=2.`,
          );
        }
        if (isRepeated || context.contents.some((entry) => entry.id === id)) {
          context.report(
            node,
            `The anchor of the operation "${text}" is on this page already; show it once.`,
          );
        }
        context.contents.push({ id, text, level, method: operation.method });
        const samples = buildCodeSamples(operation, sampleOptions);
        const codes: HighlightedCode[] = [...samples, ...listCodes(operation)].map(({ language, code }) => ({
          language,
          code,
          lines: context.highlight(code, language),
        }));
        return new Markdoc.Tag('ApiOperation', { operation, samples, codes, level });
      });
    },
  };
}
