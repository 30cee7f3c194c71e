/**
 * The examples of the pages as steps a test can run. Every bash block of a page is a step unless it has `skip` with a
 * reason; every block with `file` is a file the reader saves first. All shell steps of a page are meant for one bash
 * that starts in an empty folder with the reader's `data/root-token` in it, because later steps use the variables and
 * functions of earlier ones.
 */
import { join } from 'node:path';
import type { Node } from '@markdoc/markdoc';
import { listContent } from './generator/inputs/content-files.ts';
import { getNodeLine, readSource } from './generator/inputs/source.ts';
import { getFenceCode } from './generator/markup/fence.ts';
import { getTabNodes } from './generator/markup/tabs.ts';

/** One thing the reader does. `line` is that of the block in the page's file. */
export type ExampleStep =
  | { kind: 'file'; path: string; text: string; line: number }
  | { kind: 'shell'; text: string; expect?: string | RegExp; line: number };

/** Which tab the reader chose in each group, such as `{language: 'Python'}`. */
export type TabChoice = Record<string, string>;

const content = { folder: join(import.meta.dirname, 'content'), name: 'site/content' };
const plain = { folder: join(import.meta.dirname, 'pages'), name: 'site/pages' };

/** Read once: nothing changes the content while its examples are taken. */
let read: Map<string, Node> | undefined;

function pages(): Map<string, Node> {
  read ??= readPages();
  return read;
}

function readPages(): Map<string, Node> {
  const routes = [
    { root: content, prefix: '/docs/' },
    { root: plain, prefix: '/' },
  ].flatMap(({ root, prefix }) =>
    listContent(root, []).pages.map(
      (file) => [`${prefix}${file.segments.join('/')}`, readSource(file).ast] as const,
    ),
  );
  return new Map(routes);
}

function pageOf(route: string): Node {
  const ast = pages().get(route);
  if (!ast)
    throw new Error(
      `There is no page "${route}" to take examples from; a route is such as /docs/get-started/quickstarts/overview.`,
    );
  return ast;
}

function expectation(expect: unknown): string | RegExp | undefined {
  if (typeof expect !== 'string') return undefined;
  const pattern = expect.match(/^\/(.*)\/$/s)?.[1];
  return pattern === undefined ? expect : new RegExp(pattern);
}

/** Routes of all pages that have at least one step, in the order of their files. */
export function listExamplePages(): string[] {
  return [...pages().keys()].filter((route) => extractExamples(route).length > 0);
}

/** The choices of tabs under which the page's examples differ: `[{}]` for a page without tabs. */
export function listTabChoices(route: string): TabChoice[] {
  let choices: TabChoice[] = [{}];
  const seen = new Set<string>();
  for (const node of pageOf(route).walk()) {
    const group = String(node.attributes.group);
    if (node.tag !== 'tabs' || seen.has(group)) continue;
    seen.add(group);
    const labels = getTabNodes(node).map((tab) => String(tab.attributes.label));
    choices = choices.flatMap((choice) => labels.map((label) => ({ ...choice, [group]: label })));
  }
  return choices;
}

/**
 * The steps of a page in reading order. Of tabs only the chosen one counts; without a choice it is the first.
 * `expect` is text, or a regular expression when it is written between slashes, that the step's output must show. A
 * block with `output` is such a text for the step before it.
 */
export function extractExamples(route: string, choice: TabChoice = {}): ExampleStep[] {
  const steps: ExampleStep[] = [];
  const visit = (node: Node) => {
    if (node.tag === 'tabs') {
      const tabs = getTabNodes(node);
      const wanted = choice[String(node.attributes.group)];
      const chosen = tabs.find((tab) => tab.attributes.label === wanted) ?? tabs[0];
      chosen?.children.forEach(visit);
      return;
    }
    if (node.type !== 'fence') {
      node.children.forEach(visit);
      return;
    }
    const { file, language, skip, output } = node.attributes;
    const line = getNodeLine(node);
    if (output === true) {
      const before = steps.at(-1);
      if (before?.kind !== 'shell' || before.expect !== undefined)
        throw new Error(
          `The output on line ${line} of ${route} has to follow a bash block without "expect"; it belongs to none.`,
        );
      before.expect = getFenceCode(node);
    }
    if (typeof file === 'string')
      steps.push({ kind: 'file', path: file, text: `${getFenceCode(node)}\n`, line });
    if (language !== 'bash' || skip !== undefined) return;
    const expect = expectation(node.attributes.expect);
    steps.push({ kind: 'shell', text: getFenceCode(node), ...(expect !== undefined && { expect }), line });
  };
  visit(pageOf(route));
  return steps;
}
