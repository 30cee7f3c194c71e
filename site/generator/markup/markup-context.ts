import type { Node } from '@markdoc/markdoc';
import type { PageState as OperationsPage } from '@switchyard/explorer/model/schema/field.ts';
import type { ContentsEntry } from '../../page-data.ts';
import type { HighlightCode } from '../inputs/highlight.ts';
import type { PageImages } from '../inputs/images.ts';

/** The notes of a release, and the day it is dated. */
export type Release = { version: string; title: string; date: string; id: string };

/** A release with the route of its page, and the notes as plain text. */
export type ReleaseEntry = Release & { route: string; notes: string };

/**
 * What the markup of one page shares while it is transformed. A fresh one is made for every page, because it counts:
 * the contents list grows heading by heading, and every tab group gets the next number for its ids.
 */
export type MarkupContext = {
  highlight: HighlightCode;
  images: PageImages;
  contents: ContentsEntry[];
  tabGroups: number;
  releases: Release[];
  /** When git first saw a line that fits a pattern in the content; else the date of the page's file. */
  findFirstCommitDate: (pattern: string) => string;
  /** What the operations of the page share: their anchors, and which schemas have been shown. */
  operations: OperationsPage;
  /** Adds a mistake at the line of a node. */
  report: (node: Node, message: string) => void;
  /** Adds a warning at the line of a node: the page can be built, and says itself what it lacks. */
  warn: (node: Node, message: string) => void;
};
