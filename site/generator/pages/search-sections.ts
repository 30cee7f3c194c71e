import type { Node } from '@markdoc/markdoc';
import { getHeadingAnchor, getPlainText } from '../markup/heading.ts';
import { getReleaseAnchor } from '../markup/release.ts';
import { listTagOperations } from '../markup/swagger.ts';

/** An operation of an API document that a page shows, and its anchor. */
export type DisplayedOperation = { spec: string; method: string; path: string; id: string };

/** The content below one heading of a page, as plain text; the first section has no heading. */
export type PageSection = {
  id: string;
  header: string;
  text: string;
  code: string;
  operations: DisplayedOperation[];
  /** The release whose notes these are. */
  release?: string;
};

const inlineTypes = new Set(['inline', 'text', 'code']);

/** Splits the body of a page at its headings for the search, without markup, code separate from prose. */
export function splitIntoSections(ast: Node): PageSection[] {
  const first: PageSection = { id: '', header: '', text: '', code: '', operations: [] };
  const sections = [first];
  let section = first;
  let release = '';
  const open = (id: string, header: string) => {
    section = { id, header, text: '', code: '', operations: [], ...(release && { release }) };
    sections.push(section);
  };
  const addText = (text: unknown) => {
    const words = typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';
    if (words !== '') section.text += `${section.text === '' ? '' : ' '}${words}`;
  };
  const read = (node: Node): void => {
    const { attributes } = node;
    if (node.type === 'comment') return;
    if (node.type === 'heading') return open(getHeadingAnchor(node), getPlainText(node).trim());
    if (node.type === 'fence') {
      addText(attributes.title);
      section.code += ` ${attributes.file ?? ''} ${attributes.content}`;
      return;
    }
    if (node.type === 'image' || node.tag === 'image') return addText(attributes.alt);
    if (node.tag === 'swagger') {
      section.operations.push(...listTagOperations(node));
    }
    if (node.tag === 'release') {
      release = String(attributes.version);
      open(getReleaseAnchor(release), `${release} ${attributes.title}`);
      for (const child of node.children) read(child);
      release = '';
      return;
    }
    if (node.type === 'tag') addText(attributes.title ?? attributes.label);
    if (inlineTypes.has(node.type)) return addText(getPlainText(node));
    for (const child of node.children) read(child);
  };
  for (const child of ast.children) read(child);
  return sections;
}
