/** What is shown of a schema, a parameter or a header: data only, computed once and displayed by the components. */

/** One thing a schema says of its values, such as a limit. `codes` are values of the API, `text` is prose. */
export type Fact = { label: string; text?: string; codes?: readonly string[]; href?: string };

/** A piece of the document shown as it is. */
export type Block = { title: string; text: string };

/** Fields below a field: the properties of an object, the ways a value may look, and so on. */
export type Group = {
  kind: 'properties' | 'items' | 'variants' | 'not';
  title: string;
  fields: Field[];
};

/** A field that other fields lead to. */
export type Place = { id: string; label: string };

export type Field = {
  /** The anchor of the field in the page. */
  id: string;
  /** The name in the API; empty for the whole of a body. */
  name: string;
  /** Whether `name` is a word of ours rather than one of the API, as for the items of an array. */
  named: 'api' | 'us';
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
  blocks: Block[];
  groups: Group[];
  /** Where the fields of this schema stand already; `recursive` when that is around this field. */
  again?: { place: Place; recursive: boolean };
  /** Sentences about what the document lacks here. */
  faults: string[];
};

/** Where a schema was unfolded first, by the reference that leads to it. */
export type Unfolded = Map<string, Place>;

/**
 * What the operations of one page share: no two things have one anchor, and a schema with a name is unfolded once, with
 * links to it from wherever it comes again. Documents may use the same names, so each has its own. Answers that several operations refer to are kept in the same way.
 */
export type Page = { anchors: Set<string>; unfolded: Map<unknown, Unfolded> };

/** A page that holds nothing yet. */
export function newPage(): Page {
  return { anchors: new Set(), unfolded: new Map() };
}

/** What one operation shares while it is read, beside what it shares with its page. */
export type Shared = {
  document: unknown;
  /** The heading of the operation. */
  title: string;
  anchors: Set<string>;
  unfolded: Unfolded;
  /** How many more fields may be unfolded. */
  left: number;
};

/** An anchor that nothing else has; white space cannot stand in one. */
export function anchorFor(shared: Shared, wanted: string): string {
  const base = wanted.toWellFormed().replace(/\s/g, '_');
  let id = base;
  for (let count = 2; shared.anchors.has(id); count += 1) id = `${base}-${count}`;
  shared.anchors.add(id);
  return id;
}

/** A field about which nothing is known yet. */
export function emptyField(id: string, name: string): Field {
  return {
    id,
    name,
    named: 'api',
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
