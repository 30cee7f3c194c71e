import {
  createMemberReader,
  formatJson,
  getOwnMember,
  isJsonObject,
  type JsonObject,
  type MemberReader,
} from '../document/json.ts';
import type { ResolvedDocument } from '../document/resolved-document.ts';
import { createField, type Field, type ReadContext, reserveAnchor } from '../schema/field.ts';
import { addUnread, addValue, readSchema } from '../schema/read-schema.ts';
import { buildExampleValue } from '../values/example-value.ts';
import { isPlaceholderText } from '../values/primitive-example.ts';
import type { SerializationStyle } from '../values/serialize-value.ts';

export const PARAMETER_LOCATIONS = ['path', 'query', 'header', 'cookie'] as const;

/** The part of a request that holds a parameter; `other` when the document names no such part. */
type ParameterLocation = (typeof PARAMETER_LOCATIONS)[number] | 'other';

export type Parameter = {
  in: ParameterLocation;
  name: string;
  field: Field;
  /** A value for code samples; undefined when the document gives none. */
  value: unknown;
  serialization: SerializationStyle;
};

/** The style of a parameter that names none, as OpenAPI 3.0 prescribes. */
const DEFAULT_STYLE: Record<ParameterLocation, string> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
  other: '',
};

function getLocation(value: unknown): ParameterLocation {
  return PARAMETER_LOCATIONS.find((location) => location === value) ?? 'other';
}

/**
 * Reads the parameters of an operation. Of two with the same name and location the later list wins, which is that of the
 * operation. A parameter that cannot be read becomes a field that shows it as JSON.
 */
export function readParameters(
  shared: ReadContext,
  operationId: string,
  lists: readonly unknown[],
): Parameter[] {
  const chosen = new Map<string, unknown>();
  for (const [level, list] of lists.entries()) {
    if (list === undefined) continue;
    for (const [index, parameter] of (Array.isArray(list) ? list : [list]).entries()) {
      const { value } = shared.document.resolve(parameter);
      const isReadable = isJsonObject(value) && typeof value.name === 'string';
      chosen.set(isReadable ? `${value.in} ${value.name}` : `? ${level} ${index}`, parameter);
    }
  }
  return [...chosen.values()].map((parameter) => readParameter(shared, operationId, parameter));
}

function readParameter(shared: ReadContext, operationId: string, parameter: unknown): Parameter {
  const { value: members, fault } = shared.document.resolve(parameter);
  const name = isJsonObject(members) && typeof members.name === 'string' ? members.name : '';
  const location = getLocation(getOwnMember(members, 'in'));
  const field = createField(reserveAnchor(shared, `${operationId}.${location}.${name || 'parameter'}`), name);
  if (!isJsonObject(members)) {
    field.name = 'A parameter that cannot be read';
    field.synthetic = true;
    if (fault === undefined) field.blocks.push({ title: 'Parameter', text: formatJson(members) });
    else field.faults.push(fault);
    return { in: location, name, field, value: undefined, serialization: getSerialization({}, location) };
  }
  const from = createMemberReader(members);
  from.text('name');
  if (location !== 'other') from.any('in');
  const value = readMembers(shared, field, { from, location });
  return { in: location, name, field, value, serialization: getSerialization(members, location) };
}

function getSerialization(members: JsonObject, location: ParameterLocation): SerializationStyle {
  const { style, explode, allowReserved, content } = members;
  const chosen = typeof style === 'string' ? style : DEFAULT_STYLE[location];
  const [mediaType] = isJsonObject(content) ? Object.keys(content) : [];
  return {
    style: chosen,
    explode: typeof explode === 'boolean' ? explode : chosen === 'form',
    allowReserved: allowReserved === true,
    ...(mediaType !== undefined && { mediaType }),
  };
}

/** Reads a header of a response into `field`. It is a parameter without name and location. */
export function readHeader(shared: ReadContext, field: Field, header: unknown): Field {
  const { value, fault } = shared.document.resolve(header);
  if (fault !== undefined) field.faults.push(fault);
  else if (!isJsonObject(value)) field.blocks.push({ title: 'Header', text: formatJson(value) });
  else readMembers(shared, field, { from: createMemberReader(value), location: 'header' });
  return field;
}

/** Reads the members that parameters and headers share into a field, and returns a value for code samples. */
function readMembers(
  shared: ReadContext,
  field: Field,
  { from, location }: { from: MemberReader; location: ParameterLocation },
): unknown {
  const { document } = shared;
  field.required = from.flag('required') || location === 'path';
  field.deprecated = from.flag('deprecated');
  field.description = from.text('description') ?? '';
  readStyle(field, from, location);
  const example = from.any('example');
  const examples = from.object('examples');
  const [[mediaType, media] = [], ...otherMedia] = Object.entries(from.object('content') ?? {});
  const schema = mediaType === undefined ? from.any('schema') : getOwnMember(media, 'schema');
  if (mediaType !== undefined) field.facts.push({ label: 'Written as', codes: [mediaType] });
  if (schema !== undefined) readSchema(shared, schema, field);
  if (example !== undefined) addValue('Example', example, field);
  if (examples) readExamples(document, examples, field);
  if (isJsonObject(media)) readMedia(document, media, field);
  if (otherMedia.length > 0) addUnread({ content: Object.fromEntries(otherMedia) }, field.blocks);
  addUnread(from.unread(), field.blocks);
  const documented = [
    example,
    getFirstExample(document, examples),
    getOwnMember(media, 'example'),
    getFirstExample(document, getOwnMember(media, 'examples')),
  ].find((value) => value !== undefined);
  return documented ?? (schema === undefined ? undefined : buildDocumentedValue(document, schema));
}

/** Reads the members that say how a value is written, and mentions those that differ from the default. */
function readStyle(field: Field, from: MemberReader, location: ParameterLocation): void {
  const style = from.text('style');
  const hasExplode = from.has('explode');
  const explode = from.flag('explode');
  if (style !== undefined && style !== DEFAULT_STYLE[location])
    field.facts.push({ label: 'Style', codes: [style] });
  if (hasExplode && explode !== ((style ?? DEFAULT_STYLE[location]) === 'form')) {
    const text = explode ? 'one parameter for every value' : 'values in one parameter';
    field.facts.push({ label: 'Lists', text });
  }
  if (from.flag('allowEmptyValue')) field.facts.push({ label: 'Empty', text: 'the value may be empty' });
  if (from.flag('allowReserved'))
    field.facts.push({ label: 'Reserved characters', text: 'may stand as they are' });
}

/** Reads a media type of a parameter, without its schema. */
function readMedia(document: ResolvedDocument, media: JsonObject, field: Field): void {
  const from = createMemberReader(media);
  from.any('schema');
  if (from.has('example')) addValue('Example', from.any('example'), field);
  const examples = from.object('examples');
  if (examples) readExamples(document, examples, field);
  addUnread(from.unread(), field.blocks);
}

/** Returns the value of the first of several named examples. */
function getFirstExample(document: ResolvedDocument, examples: unknown): unknown {
  const [first] = isJsonObject(examples) ? Object.values(examples) : [];
  return getOwnMember(document.resolve(first).value, 'value');
}

/** Reads named examples with their descriptions. */
function readExamples(document: ResolvedDocument, examples: JsonObject, field: Field): void {
  for (const [name, example] of Object.entries(examples)) {
    const { value: resolved, fault } = document.resolve(example);
    const from = createMemberReader(isJsonObject(resolved) ? resolved : {});
    const title = from.text('summary') ?? name;
    const value = from.has('value') ? from.any('value') : (fault ?? resolved);
    addValue(`Example ${title}`, value, field);
    const description = from.text('description');
    if (description !== undefined) field.facts.push({ label: title, text: description });
    if (from.has('value')) addUnread(from.unread(), field.blocks);
  }
}

/** Builds a value from the schema, unless it were a placeholder: the name of the parameter tells readers more. */
function buildDocumentedValue(document: ResolvedDocument, schema: unknown): unknown {
  const value = buildExampleValue(document, schema, 'request');
  return isPlaceholderText(value) || typeof value === 'object' ? undefined : value;
}
