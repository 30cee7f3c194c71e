/** The data that the components display of a schema, a parameter or a header, computed once. */
import { ResolvedDocument } from '../document/resolved-document.ts';

/** One statement of a schema about its values, such as a limit. `codes` are values of the API, `text` is prose. */
export type Fact = { label: string; text?: string; codes?: readonly string[]; href?: string };

/** A piece of the document that is shown as JSON. */
export type RawBlock = { title: string; text: string };

/** Fields below a field: the properties of an object, the items of an array, or the variants of a value. */
export type FieldGroup = {
  kind: 'properties' | 'items' | 'variants' | 'not';
  title: string;
  fields: Field[];
};

/** A field or response that other fields link to. */
export type FieldLink = { id: string; label: string };

export type Field = {
  /** The anchor of the field in the page. */
  id: string;
  /** The name in the API; empty for a whole body. */
  name: string;
  /** True when the explorer chose `name`, as for the items of an array. */
  synthetic: boolean;
  type: string;
  /** The name of the schema in the document, when the field refers to one. */
  schema?: string;
  required: boolean;
  nullable: boolean;
  readOnly: boolean;
  writeOnly: boolean;
  deprecated: boolean;
  /** Markdown. */
  description: string;
  facts: Fact[];
  blocks: RawBlock[];
  groups: FieldGroup[];
  /** The place where the fields of this schema are unfolded; `recursive` when this field is nested in it. */
  unfoldedAt?: { place: FieldLink; recursive: boolean };
  /** Sentences about mistakes in the document. */
  faults: string[];
};

/** The first places where schemas and shared responses are unfolded, by the reference that leads to them. */
type UnfoldedPlaces = Map<string, FieldLink>;

type DocumentState = { document: ResolvedDocument; unfolded: UnfoldedPlaces };

/**
 * The state that the operations of one page share. Anchors are unique on the page, each document is resolved once, and a
 * named schema or response is unfolded once, with links to it from other places. Documents may use the same names.
 */
export type PageState = { anchors: Set<string>; documents: Map<unknown, DocumentState> };

/** Creates the state of an empty page. */
export function createPageState(): PageState {
  return { anchors: new Set(), documents: new Map() };
}

/** Returns the state of a document on a page, and creates it at the first call. */
export function getDocumentState({ documents }: PageState, root: unknown): DocumentState {
  const known = documents.get(root);
  if (known) return known;
  const created = { document: new ResolvedDocument(root), unfolded: new Map() };
  documents.set(root, created);
  return created;
}

/** The state that the parts of one operation share while they are read. */
export type ReadContext = {
  document: ResolvedDocument;
  /** The heading of the operation. */
  title: string;
  anchors: Set<string>;
  unfolded: UnfoldedPlaces;
  /** The number of fields that may still be unfolded. */
  remainingFields: number;
};

/** Reserves an anchor that is unique on the page. White space is replaced, because an anchor cannot hold it. */
export function reserveAnchor(shared: ReadContext, wanted: string): string {
  const base = wanted.toWellFormed().replace(/\s/g, '_');
  let id = base;
  for (let count = 2; shared.anchors.has(id); count += 1) id = `${base}-${count}`;
  shared.anchors.add(id);
  return id;
}

/** Creates a field about which nothing is known yet. */
export function createField(id: string, name: string): Field {
  return {
    id,
    name,
    synthetic: false,
    type: 'any',
    required: false,
    nullable: false,
    readOnly: false,
    writeOnly: false,
    deprecated: false,
    description: '',
    facts: [],
    blocks: [],
    groups: [],
    faults: [],
  };
}
