/**
 * The examples of the pages as steps that a test can run. Every bash block is a step unless it has `skip` with a reason;
 * every block with `file` is a file that the reader saves first. One bash runs all steps of a page, because later steps
 * use variables and functions of earlier ones. It starts in an empty folder with the reader's `data/root-token`.
 */
import { join } from 'node:path';
import type { Node } from '@markdoc/markdoc';
import { listContent } from './generator/inputs/content-files.ts';
import { getNodeLine, readSource } from './generator/inputs/source.ts';
import { getFenceCode } from './generator/markup/fence.ts';
import { getTabNodes } from './generator/markup/tabs.ts';

/**
 * One step of the reader.
 *
 * - `line`: the line of the block in the page's file.
 * - `needs`: the commands that a host must have to run it; `packages` stands for package indexes.
 * - `scope`: steps of the same scope run in one subshell, so that later steps do not see their variables.
 */
export type ExampleStep =
  | { kind: 'file'; path: string; text: string; line: number }
  | { kind: 'shell'; text: string; expect?: string | RegExp; needs?: string[]; line: number; scope?: string };

/** The tab that the reader chose in each group, such as `{language: 'Python'}`. */
export type TabChoice = Record<string, string>;

type ShellStep = Extract<ExampleStep, { kind: 'shell' }>;

const content = { folder: join(import.meta.dirname, 'content'), name: 'site/content' };
const plain = { folder: join(import.meta.dirname, 'pages'), name: 'site/pages' };

/** Cached, because the content does not change while tests extract its examples. */
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

function getPage(route: string): Node {
  const ast = pages().get(route);
  if (!ast)
    throw new Error(
      `There is no page "${route}" to take examples from; a route is such as /docs/get-started/quickstarts/overview.`,
    );
  return ast;
}

function parseExpectation(expect: unknown): string | RegExp | undefined {
  if (typeof expect !== 'string') return undefined;
  const pattern = expect.match(/^\/(.*)\/$/s)?.[1];
  return pattern === undefined ? expect : new RegExp(pattern);
}

/** Lists the routes of all pages with at least one step, in the order of their files. */
export function listExamplePages(): string[] {
  return [...pages().keys()].filter((route) => extractExamples(route).length > 0);
}

/**
 * Lists tab choices that together have every tab of the page; `[{}]` for a page without tabs. Groups change together: choices
 * for every combination would run a page with two groups eight times. Shared tabs are in every choice and add none.
 */
export function listTabChoices(route: string): TabChoice[] {
  const labelsByGroup = new Map<string, Set<string>>();
  for (const node of getPage(route).walk()) {
    if (node.tag !== 'tabs' || node.attributes.shared === true) continue;
    const group = String(node.attributes.group);
    const labels = labelsByGroup.get(group) ?? new Set();
    for (const tab of getTabNodes(node)) labels.add(String(tab.attributes.label));
    labelsByGroup.set(group, labels);
  }
  const groups = [...labelsByGroup].map(([group, labels]) => [group, [...labels]] as const);
  const count = Math.max(1, ...groups.map(([, labels]) => labels.length));
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(groups.map(([group, labels]) => [group, labels[index % labels.length] ?? ''])),
  );
}

/** Lists the labels of the tabs in each group of this name on the page, in reading order. */
export function listTabLabels(route: string, group: string): string[][] {
  const groups = [...getPage(route).walk()].filter(
    ({ tag, attributes }) => tag === 'tabs' && attributes.group === group,
  );
  return groups.map((node) => getTabNodes(node).map(({ attributes }) => String(attributes.label)));
}

/**
 * Returns the steps of a page in reading order, of each tab group only the chosen tab or the first. The output of a step
 * must contain the text `expect`, or match it if it is a regular expression between slashes. A block with `output` is that
 * text for the step before it. Throws for an unknown route and for an output without its step.
 *
 * Tabs with `shared` have the steps of every tab, so that a page is run once, and the command `undo` runs between two of them.
 * The first tab comes last, and defines the variables of the page. The others run in subshells, so that no tab can use what
 * another one defines. A block with `output` behind them is the output of the last step of each tab, except those that have
 * `expect`. Tabs with a label in `omittedLabels` are left out.
 */
export function extractExamples(
  route: string,
  choice: TabChoice = {},
  omittedLabels: readonly string[] = [],
): ExampleStep[] {
  const steps: ExampleStep[] = [];
  /** The steps that printed what a block with `output` shows. */
  let printing: ShellStep[] = [];
  const visitShared = (node: Node) => {
    const { undo } = node.attributes;
    const line = getNodeLine(node);
    const [first, ...others] = getTabNodes(node);
    const last: ShellStep[] = [];
    for (const tab of [...others, ...(first ? [first] : [])]) {
      const label = String(tab.attributes.label);
      if (omittedLabels.includes(label)) continue;
      if (typeof undo === 'string' && last.length > 0) steps.push({ kind: 'shell', text: undo, line });
      const from = steps.length;
      tab.children.forEach(visit);
      const inTab = steps.slice(from).filter((step) => step.kind === 'shell');
      if (tab !== first) for (const step of inTab) step.scope = `${label} ${line}`;
      last.push(...inTab.slice(-1));
    }
    printing = last;
  };
  const visit = (node: Node): void => {
    if (node.tag === 'tabs') {
      if (node.attributes.shared === true) return visitShared(node);
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
    const { file, language, skip, needs, output } = node.attributes;
    const line = getNodeLine(node);
    if (output === true) {
      const unchecked = printing.filter((step) => step.expect === undefined);
      if (unchecked.length === 0)
        throw new Error(
          `The output on line ${line} of ${route} belongs to no step; put it after a bash block without "expect".`,
        );
      for (const step of unchecked) step.expect = getFenceCode(node);
    }
    if (typeof file === 'string') {
      steps.push({ kind: 'file', path: file, text: `${getFenceCode(node)}\n`, line });
      printing = [];
    }
    if (language !== 'bash' || skip !== undefined) return;
    const expect = parseExpectation(node.attributes.expect);
    const step: ShellStep = {
      ...{ kind: 'shell' as const, text: getFenceCode(node), line },
      ...(expect !== undefined && { expect }),
      ...(typeof needs === 'string' && { needs: needs.split(' ') }),
    };
    steps.push(step);
    printing = [step];
  };
  visit(getPage(route));
  return steps;
}
