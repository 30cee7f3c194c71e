/** What is shown of a schema, a parameter or a header: data only, computed once and displayed by the components. */

/** One thing a schema says of its values, such as a limit. `codes` are values of the API, `text` is prose. */
export type Fact = { label: string; text?: string; codes?: readonly string[]; href?: string };

/** A piece of the document shown as it is. */
export type RawBlock = { title: string; text: string };

/** Fields below a field: the properties of an object, the ways a value may look, and so on. */
export type FieldGroup = {
  kind: 'properties' | 'items' | 'variants' | 'not';
  title: string;
  fields: Field[];
};

/** A field that other fields lead to. */
export type FieldLink = { id: string; label: string };

export type Field = {
  /** The anchor of the field in the page. */
  id: string;
  /** The name in the API; empty for the whole of a body. */
  name: string;
  /** Whether `name` is made up here rather than taken from the document, as for the items of an array. */
  synthetic: boolean;
  type: string;
  /** The name the document gives the schema, when the field refers to one. */
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
  /** Where the fields of this schema stand already; `recursive` when that is around this field. */
  unfoldedAt?: { place: FieldLink; recursive: boolean };
  /** Sentences about what the document lacks here. */
  faults: string[];
};

/** Where a schema was unfolded first, by the reference that leads to it. */
export type UnfoldedSchemas = Map<string, FieldLink>;

/**
 * What the operations of one page share: no two things have one anchor, and a schema with a name is unfolded once, with
 * links to it from wherever it comes again. Documents may use the same names, so each has its own. Answers that several operations refer to are kept in the same way.
 */
export type PageState = { anchors: Set<string>; unfolded: Map<unknown, UnfoldedSchemas> };

/** A page that holds nothing yet. */
export function createPageState(): PageState {
  return { anchors: new Set(), unfolded: new Map() };
}

/** What one operation shares while it is read, beside what it shares with its page. */
export type ReadContext = {
  document: unknown;
  /** The heading of the operation. */
  title: string;
  anchors: Set<string>;
  unfolded: UnfoldedSchemas;
  /** How many more fields may be unfolded. */
  remainingFields: number;
};

/** An anchor that nothing else has; white space cannot stand in one. */
export function reserveAnchor(shared: ReadContext, wanted: string): string {
  const base = wanted.toWellFormed().replace(/\s/g, '_');
  let id = base;
  for (let count = 2; shared.anchors.has(id); count += 1) id = `${base}-${count}`;
  shared.anchors.add(id);
  return id;
}

/** A field about which nothing is known yet. */
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
