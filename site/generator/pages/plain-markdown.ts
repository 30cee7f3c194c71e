import type { Node } from '@markdoc/markdoc';
import Markdoc from '@markdoc/markdoc';
import { getOperationTitle, type Operation } from '@switchyard/explorer/model/operation/read-operation.ts';
import { formatDay } from '../inputs/last-updated.ts';
import type { Release } from '../markup/markup-context.ts';
import { describeMissingApi, readTagOperations } from '../markup/swagger.ts';
import { getTabNodes } from '../markup/tabs.ts';

/** Makes nodes of ordinary Markdown out of a few lines of it. */
function nodesOf(markdown: string): Node[] {
  return Markdoc.parse(markdown).children;
}

/** The same node without the attributes that only Markdoc understands. */
function plain(node: Node, releases: readonly Release[]): Node {
  const { Node: MarkdocNode } = Markdoc.Ast;
  if (node.type === 'fence') {
    const { content, language } = node.attributes;
    return new MarkdocNode('fence', { content, language }, [new MarkdocNode('text', { content })]);
  }
  const { id: _anchor, ...attributes } = node.attributes;
  const children = node.children.flatMap((child) => simplify(child, releases));
  return new MarkdocNode(node.type, attributes, children, node.tag);
}

/** Replaces what only Markdoc knows by the nearest thing ordinary Markdown has. */
function simplify(node: Node, releases: readonly Release[]): Node[] {
  const { Node: MarkdocNode } = Markdoc.Ast;
  const below = (one: Node) => one.children.flatMap((child) => simplify(child, releases));
  if (node.type === 'fence') {
    const { file, title, output } = node.attributes;
    const words =
      typeof file === 'string' ? `\`${file}\`` : (title ?? (output === true ? 'Output' : undefined));
    const caption = words === undefined ? [] : nodesOf(`${words}:`);
    return [...caption, plain(node, releases)];
  }
  if (node.type === 'image' || node.tag === 'image') {
    const { alt, caption } = node.attributes;
    return [
      ...nodesOf(`*Picture: ${String(alt)}*`),
      ...(typeof caption === 'string' ? nodesOf(caption) : []),
    ];
  }
  if (node.tag === 'tabs') {
    return getTabNodes(node).flatMap((tab) => [
      ...nodesOf(`**${String(tab.attributes.label)}:**`),
      ...below(tab),
    ]);
  }
  if (node.tag === 'release') {
    const { version, title } = node.attributes;
    const date = releases.find((release) => release.version === version)?.date;
    const day = date === undefined ? [] : nodesOf(formatDay(date));
    return [...nodesOf(`## ${version} ${title}`), ...day, ...below(node)];
  }
  if (node.tag === 'hint') {
    const title = typeof node.attributes.title === 'string' ? nodesOf(`**${node.attributes.title}**`) : [];
    return [new MarkdocNode('blockquote', {}, [...title, ...below(node)])];
  }
  if (node.tag === 'swagger') {
    const missing = describeMissingApi(node);
    return missing === undefined ? readTagOperations(node).flatMap(operationAsText) : nodesOf(missing);
  }
  if (node.type === 'tag') return below(node);
  return [plain(node, releases)];
}

/** An operation in short: the document of the API has everything else, for programs above all. */
function operationAsText({ spec, operation }: { spec: string; operation: Operation }): Node[] {
  const { Node: MarkdocNode } = Markdoc.Ast;
  const { method, path, description } = operation;
  const heading = new MarkdocNode('heading', { level: 3 }, [
    new MarkdocNode('inline', {}, [new MarkdocNode('text', { content: getOperationTitle(operation) })]),
  ]);
  const where = `\`${method} ${path}\`, in full in [${spec}.json](/openapi/${spec}.json)`;
  return [heading, ...nodesOf(where), ...nodesOf(description)];
}

/** The page as ordinary Markdown, for readers and programs that want text: title, intro and body without our tags. */
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
