import { Fragment } from 'react';
import { formatAnchorHref } from '../model/schema/anchor-href.ts';
import type { Fact, Field, FieldGroup, RawBlock } from '../model/schema/field.ts';
import { Markdown } from './markdown.tsx';

/** A longer list of values is folded. */
const MAX_OPEN_VALUES = 16;

function Codes({ codes }: { codes: readonly string[] }) {
  return codes.map((code, index) => (
    <Fragment key={code}>
      {index > 0 && ', '}
      <code>{code}</code>
    </Fragment>
  ));
}

function FactLine({ fact: { label, text, codes, href } }: { fact: Fact }) {
  if (codes && codes.length > MAX_OPEN_VALUES)
    return (
      <details className="api-more">
        <summary>
          {label} {codes.length} values
        </summary>
        <p>
          <Codes codes={codes} />
        </p>
      </details>
    );
  return (
    <p className="api-fact">
      {label}: {href === undefined ? text : <a href={href}>{text}</a>}
      {codes && <Codes codes={codes} />}
    </p>
  );
}

/** The statements of a schema beside its type and its fields. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return facts.map((fact, index) => <FactLine key={`${fact.label}${index}`} fact={fact} />);
}

/** Folded pieces of the document as JSON. */
export function RawBlockList({ blocks }: { blocks: readonly RawBlock[] }) {
  return blocks.map(({ title, text }, index) => (
    <details className="api-more" key={`${title}${index}`}>
      <summary>{title}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </details>
  ));
}

/** Sentences about mistakes in the document. */
export function Faults({ faults }: { faults: readonly string[] }) {
  return faults.map((fault) => (
    <p className="api-fault" key={fault}>
      {fault}
    </p>
  ));
}

function Flags({ field }: { field: Field }) {
  const { required, deprecated, readOnly, writeOnly } = field;
  return (
    <>
      {required && <span className="api-required"> required</span>}
      {deprecated && <span className="api-flag"> deprecated</span>}
      {readOnly && <span className="api-flag"> read only</span>}
      {writeOnly && <span className="api-flag"> write only</span>}
    </>
  );
}

/** The type of a field in words. */
export function FieldTypeLabel({ field: { type, nullable } }: { field: Field }) {
  return (
    <span className="api-type">
      {type}
      {nullable && !/\bnull$/.test(type) && ' or null'}
    </span>
  );
}

function Name({ field: { name, synthetic } }: { field: Field }) {
  return synthetic ? <em>{name}</em> : <code>{name}</code>;
}

function FieldItem({ field }: { field: Field }) {
  return (
    <li className="api-field" id={field.id}>
      <p className="api-line">
        <Name field={field} /> <FieldTypeLabel field={field} />
        <Flags field={field} />
      </p>
      <FieldBody field={field} />
      {field.groups.map((group) => (
        <FoldedGroup key={group.title} group={group} field={field} />
      ))}
    </li>
  );
}

/** The fields below a field, folded. The only kind of items has no list of its own: its fields follow at once. */
function FoldedGroup({ group: { kind, title, fields }, field }: { group: FieldGroup; field: Field }) {
  const [item, ...others] = fields;
  if (kind === 'items' && item && others.length === 0)
    return (
      <details className="api-more" id={item.id}>
        <summary>
          {title} of <Name field={field} /> <FieldTypeLabel field={item} />
          <Flags field={item} />
        </summary>
        <FieldBody field={item} />
        <FieldGroups groups={item.groups} />
      </details>
    );
  return (
    <details className="api-more">
      <summary>
        {title} of <Name field={field} />
      </summary>
      <FieldList fields={fields} kind={kind} />
    </details>
  );
}

/** A field without its name, its type and the fields below it. */
export function FieldBody({ field }: { field: Field }) {
  const { description, facts, blocks, unfoldedAt, faults } = field;
  return (
    <>
      <Markdown text={description} />
      <Facts facts={facts} />
      {unfoldedAt && (
        <p className="api-fact">
          {unfoldedAt.recursive ? 'Recursive: its fields are again those of ' : 'Its fields are those of '}
          <a href={formatAnchorHref(unfoldedAt.place.id)}>
            <code>{unfoldedAt.place.label}</code>
          </a>
          .
        </p>
      )}
      <Faults faults={faults} />
      <RawBlockList blocks={blocks} />
    </>
  );
}

/** Fields below each other; the variants of a value are stops of a track, of which a request takes one. */
export function FieldList({ fields, kind }: { fields: readonly Field[]; kind?: FieldGroup['kind'] }) {
  return (
    <ul className={kind === 'variants' ? 'api-fields api-one' : 'api-fields'}>
      {fields.map((field) => (
        <FieldItem key={field.id} field={field} />
      ))}
    </ul>
  );
}

/** The fields of a body, open; groups other than properties have a label. */
export function FieldGroups({ groups }: { groups: readonly FieldGroup[] }) {
  return groups.map((group) => (
    <Fragment key={group.title}>
      {group.kind !== 'properties' && <p className="api-label">{group.title}</p>}
      <FieldList fields={group.fields} kind={group.kind} />
    </Fragment>
  ));
}
