import { dereference } from '../document/dereference.ts';
import {
  createMemberReader,
  formatJson,
  getOwnMember,
  isJsonObject,
  type JsonObject,
} from '../document/json.ts';
import { addUnread, addValue } from '../schema/facts.ts';
import { createField, type Field, type ReadContext, reserveAnchor } from '../schema/field.ts';
import { readSchema } from '../schema/read-schema.ts';
import { buildExampleValue } from '../values/example-value.ts';
import type { SerializationStyle } from '../values/serialize-value.ts';

export const PARAMETER_LOCATIONS = ['path', 'query', 'header', 'cookie'] as const;

/** Where a parameter stands in a request; `other` when the document names no such place. */
export type ParameterLocation = (typeof PARAMETER_LOCATIONS)[number] | 'other';

/** `value` is undefined when the document says nothing of it; `written` is how it stands in a request. */
export type Parameter = {
  in: ParameterLocation;
  name: string;
  field: Field;
  value: unknown;
  serialization: SerializationStyle;
};

/** How a value is written when the document does not say. */
const usualStyle: Record<ParameterLocation, string> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
  other: '',
};

function locationOf(value: unknown): ParameterLocation {
  return PARAMETER_LOCATIONS.find((location) => location === value) ?? 'other';
}

/**
 * The parameters of an operation: those of its path, except where the operation has one of the same name and place.
 * What cannot be read comes back as a field of its own that shows it.
 */
export function readParameters(
  shared: ReadContext,
  operationId: string,
  lists: readonly unknown[],
): Parameter[] {
  const chosen = new Map<string, unknown>();
  lists.forEach((list, level) => {
    if (list === undefined) return;
    for (const [index, parameter] of (Array.isArray(list) ? list : [list]).entries()) {
      const { value } = dereference(shared.document, parameter);
      const readable = isJsonObject(value) && typeof value.name === 'string';
      chosen.set(readable ? `${value.in} ${value.name}` : `? ${level} ${index}`, parameter);
    }
  });
  return [...chosen.values()].map((parameter) => readParameter(shared, operationId, parameter));
}

function readParameter(shared: ReadContext, operationId: string, parameter: unknown): Parameter {
  const { value, fault } = dereference(shared.document, parameter);
  const name = isJsonObject(value) && typeof value.name === 'string' ? value.name : '';
  const place = locationOf(isJsonObject(value) ? value.in : undefined);
  const field = createField(reserveAnchor(shared, `${operationId}.${place}.${name || 'parameter'}`), name);
  if (!isJsonObject(value)) {
    field.name = 'A parameter that cannot be read';
    field.synthetic = true;
    if (fault === undefined) field.blocks.push({ title: 'Parameter', text: formatJson(value) });
    else field.faults.push(fault);
    return { in: place, name, field, value: undefined, serialization: styleOf({}, place) };
  }
  const { name: _name, in: written, ...others } = value;
  const left = place === 'other' && written !== undefined ? { ...others, in: written } : others;
  const rest =
    typeof value.name === 'string' || value.name === undefined ? left : { ...left, name: value.name };
  const made = readValue(shared, rest, field, place);
  return { in: place, name, field, value: made, serialization: styleOf(value, place) };
}

/** How the value of a parameter is written: as it says, else as its place has it. */
function styleOf(parameter: object, place: ParameterLocation): SerializationStyle {
  const { style, explode, allowReserved, content } = { ...parameter } as Record<string, unknown>;
  const chosen = typeof style === 'string' ? style : usualStyle[place];
  const [mediaType] = isJsonObject(content) ? Object.keys(content) : [];
  return {
    style: chosen,
    explode: typeof explode === 'boolean' ? explode : chosen === 'form',
    allowReserved: allowReserved === true,
    ...(mediaType !== undefined && { mediaType }),
  };
}

/** A header of a response: a parameter without name and place. */
export function readHeader(shared: ReadContext, id: string, name: string, header: unknown): Field {
  const field = createField(reserveAnchor(shared, id), name);
  const { value, fault } = dereference(shared.document, header);
  if (fault !== undefined) field.faults.push(fault);
  else if (!isJsonObject(value)) field.blocks.push({ title: 'Header', text: formatJson(value) });
  else readValue(shared, value, field, 'header');
  return field;
}

/** Reads what parameters and headers have in common into a field, and gives a value to show in samples. */
function readValue(shared: ReadContext, value: object, field: Field, place: ParameterLocation): unknown {
  const { document } = shared;
  const from = createMemberReader({ ...value });
  field.required = from.flag('required') || place === 'path';
  field.deprecated = from.flag('deprecated');
  field.description = from.text('description') ?? '';
  const style = from.text('style');
  const form = (style ?? usualStyle[place]) === 'form';
  const hasExplode = from.has('explode');
  const explode = from.flag('explode');
  if (style !== undefined && style !== usualStyle[place])
    field.facts.push({ label: 'Style', codes: [style] });
  if (hasExplode && explode !== form) {
    field.facts.push({
      label: 'Lists',
      text: explode ? 'one parameter for every value' : 'values in one parameter',
    });
  }
  if (from.flag('allowEmptyValue')) field.facts.push({ label: 'Empty', text: 'the value may be empty' });
  if (from.flag('allowReserved'))
    field.facts.push({ label: 'Reserved characters', text: 'may stand as they are' });
  const example = from.any('example');
  const examples = from.object('examples');
  const content = from.object('content');
  const [[mediaType, media] = [], ...otherMedia] = Object.entries(content ?? {});
  const schema =
    mediaType === undefined ? from.any('schema') : isJsonObject(media) ? media.schema : undefined;
  if (mediaType !== undefined) field.facts.push({ label: 'Written as', codes: [mediaType] });
  if (schema !== undefined) readSchema(shared, schema, field);
  if (example !== undefined) addValue('Example', example, field.facts, field.blocks);
  if (examples) readExamples(document, examples, field);
  if (isJsonObject(media)) {
    const { schema: _schema, example: told, examples: several, ...others } = media;
    if (told !== undefined) addValue('Example', told, field.facts, field.blocks);
    if (isJsonObject(several)) readExamples(document, several, field);
    else if (several !== undefined) addUnread({ examples: several }, field.blocks);
    addUnread(createMemberReader(others).unread(), field.blocks);
  }
  if (otherMedia.length > 0) addUnread({ content: Object.fromEntries(otherMedia) }, field.blocks);
  addUnread(from.unread(), field.blocks);
  const given = [example, exampleOf(document, examples), getOwnMember(media, 'example')].find(
    (one) => one !== undefined,
  );
  const said = given ?? exampleOf(document, getOwnMember(media, 'examples'));
  return said ?? (schema === undefined ? undefined : sketchGiven(document, schema));
}

/** The value of the first of several examples. */
function exampleOf(document: unknown, examples: unknown): unknown {
  const [first] = isJsonObject(examples) ? Object.values(examples) : [];
  return getOwnMember(dereference(document, first).value, 'value');
}

/** Examples with a name: the value, and what is said of it. */
function readExamples(document: unknown, examples: JsonObject, field: Field): void {
  for (const [name, given] of Object.entries(examples)) {
    const { value: followed, fault } = dereference(document, given);
    const from = createMemberReader(isJsonObject(followed) ? followed : {});
    const title = from.text('summary') ?? name;
    const shown = from.has('value') ? from.any('value') : (fault ?? followed);
    addValue(`Example ${title}`, shown, field.facts, field.blocks);
    const description = from.text('description');
    if (description !== undefined) field.facts.push({ label: title, text: description });
    if (from.has('value')) addUnread(from.unread(), field.blocks);
  }
}

/** Only what the document says of the value: a made-up word is worse in an address than the parameter's own name. */
function sketchGiven(document: unknown, schema: unknown): unknown {
  const made = buildExampleValue(document, schema, 'request');
  const isMadeUp = typeof made === 'string' && /^string-*$/.test(made);
  return isMadeUp || typeof made === 'object' ? undefined : made;
}
