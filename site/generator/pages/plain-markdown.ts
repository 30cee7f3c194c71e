import type { Node } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import { getOperationTitle, type Operation } from '@switchyard/explorer/model/operation/read-operation.ts';
import { formatDay } from '../inputs/last-updated.ts';
import { getInstallationLink } from '../markup/fence.ts';
import type { Release } from '../markup/markup-context.ts';
import { describeMissingApi, readTagOperations } from '../markup/swagger.ts';
import { getTabNodes } from '../markup/tabs.ts';

/** Parses ordinary Markdown to nodes. */
function parseNodes(markdown: string): Node[] {
  return Markdoc.parse(markdown).children;
}

/** Copies a node without the attributes that only Markdoc understands. */
function copyPlain(node: Node, releases: readonly Release[]): Node {
  const { Node: MarkdocNode } = Markdoc.Ast;
  if (node.type === 'fence') {
    const { content, language } = node.attributes;
    return new MarkdocNode('fence', { content, language }, [new MarkdocNode('text', { content })]);
  }
  const { id: _anchor, ...attributes } = node.attributes;
  const children = node.children.flatMap((child) => simplify(child, releases));
  return new MarkdocNode(node.type, attributes, children, node.tag);
}

/** Replaces tags of Markdoc by the nearest ordinary Markdown. */
function simplify(node: Node, releases: readonly Release[]): Node[] {
  const { Node: MarkdocNode } = Markdoc.Ast;
  const below = (one: Node) => one.children.flatMap((child) => simplify(child, releases));
  if (node.type === 'fence') {
    const { file, title, output } = node.attributes;
    const words =
      typeof file === 'string' ? `\`${file}\`` : (title ?? (output === true ? 'Output' : undefined));
    const caption = words === undefined ? [] : parseNodes(`${words}:`);
    const link = getInstallationLink(node);
    const installation = link ? parseNodes(`[${link.text}](${link.href})`) : [];
    return [...caption, ...installation, copyPlain(node, releases)];
  }
  if (node.type === 'image' || node.tag === 'image') {
    const { alt, caption } = node.attributes;
    return [
      ...parseNodes(`*Picture: ${String(alt)}*`),
      ...(typeof caption === 'string' ? parseNodes(caption) : []),
    ];
  }
  if (node.tag === 'tabs') {
    return getTabNodes(node).flatMap((tab) => [
      ...parseNodes(`**${String(tab.attributes.label)}:**`),
      ...below(tab),
    ]);
  }
  if (node.tag === 'release') {
    const { version, title } = node.attributes;
    const date = releases.find((release) => release.version === version)?.date;
    const day = date === undefined ? [] : parseNodes(formatDay(date));
    return [...parseNodes(`## ${version} ${title}`), ...day, ...below(node)];
  }
  if (node.tag === 'hint') {
    const title = typeof node.attributes.title === 'string' ? parseNodes(`**${node.attributes.title}**`) : [];
    return [new MarkdocNode('blockquote', {}, [...title, ...below(node)])];
  }
  if (node.tag === 'swagger') {
    const missing = describeMissingApi(node);
    return missing === undefined ? readTagOperations(node).flatMap(summarizeOperation) : parseNodes(missing);
  }
  if (node.type === 'tag') return below(node);
  return [copyPlain(node, releases)];
}

/** Summarises an operation, with a link to the document of the API, which has the rest. */
function summarizeOperation({ spec, operation }: { spec: string; operation: Operation }): Node[] {
  const { Node: MarkdocNode } = Markdoc.Ast;
  const { method, path, description } = operation;
  const heading = new MarkdocNode('heading', { level: 3 }, [
    new MarkdocNode('inline', {}, [new MarkdocNode('text', { content: getOperationTitle(operation) })]),
  ]);
  const where = `\`${method} ${path}\`, in full in [${spec}.json](/openapi/${spec}.json)`;
  return [heading, ...parseNodes(where), ...parseNodes(description)];
}

/** Formats a page as ordinary Markdown: title, intro and body without tags of Markdoc. */
export function formatPlainMarkdown(
  page: { title: string; intro: string },
  ast: Node,
  releases: readonly Release[],
): string {
  const { Node: MarkdocNode } = Markdoc.Ast;
  const document = new MarkdocNode(
    'document',
    {},
    ast.children.flatMap((child) => simplify(child, releases)),
  );
  return `# ${page.title}\n\n${page.intro}\n\n${Markdoc.format(document).trim()}\n`;
}
