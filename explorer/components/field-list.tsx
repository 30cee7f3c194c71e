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

export function FieldTypeLabel({ field: { type, nullable, schema } }: { field: Field }) {
  return (
    <span className="api-type">
      {type}
      {nullable && !/\bnull$/.test(type) && ' or null'}
      {schema !== undefined && ` · ${schema}`}
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
        {/* biome-ignore lint/a11y/useValidAnchor: the page's script turns these into links; as HTML they were a tenth of a page. */}
        <a className="api-name">
          <Name field={field} />
        </a>{' '}
        <FieldTypeLabel field={field} />
        <Flags field={field} />
      </p>
      <FieldBody field={field} />
      {field.groups.map((group) => (
        <details className="api-more" key={group.title}>
          <summary>
            {group.title} of <Name field={field} />
          </summary>
          <FieldList fields={group.fields} />
        </details>
      ))}
    </li>
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

export function FieldList({ fields }: { fields: readonly Field[] }) {
  return (
    <ul className="api-fields">
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
      <FieldList fields={group.fields} />
    </Fragment>
  ));
}
