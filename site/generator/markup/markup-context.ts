import type { Node } from '@markdoc/markdoc';
import type { PageState as OperationsPage } from '@switchyard/explorer/model/schema/field.ts';
import type { ContentsEntry } from '../../page-data.ts';
import type { HighlightCode } from '../inputs/highlight.ts';
import type { PageImages } from '../inputs/images.ts';

/** A release with its date, a day or an ISO time, and the anchor of its notes. */
export type Release = { version: string; title: string; date: string; id: string };

/** A release with the route of its page, and the notes as plain text. */
export type ReleaseEntry = Release & { route: string; notes: string };

/**
 * The state that the markup of one page shares during its transformation. Each page gets a new one: the contents list
 * grows heading by heading, and every tab group gets the next number for its ids.
 */
export type MarkupContext = {
  highlight: HighlightCode;
  images: PageImages;
  contents: ContentsEntry[];
  tabGroups: number;
  releases: Release[];
  /** Returns the date of the first commit with a line that matches the pattern; otherwise that of the page's file. */
  findFirstCommitDate: (pattern: string) => string;
  /** The anchors of the operations on the page, and the schemas that the page has rendered already. */
  operations: OperationsPage;
  /** Adds a mistake at the line of a node. */
  report: (node: Node, message: string) => void;
  /** Adds a warning at the line of a node: the page builds, but shows a message in place of some content. */
  warn: (node: Node, message: string) => void;
};
