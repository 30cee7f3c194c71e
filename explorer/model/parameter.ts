import { addRest, addValue } from './facts.ts';
import { anchorFor, emptyField, type Field, type Shared } from './field.ts';
import { type Dict, isDict, memberOf, membersOf, print } from './json.ts';
import { follow } from './reference.ts';
import { readSchema } from './schema.ts';
import { sketch } from './sketch.ts';
import type { Style } from './written.ts';

export const locations = ['path', 'query', 'header', 'cookie'] as const;

/** Where a parameter stands in a request; `other` when the document names no such place. */
export type Location = (typeof locations)[number] | 'other';

/** `value` is undefined when the document says nothing of it; `written` is how it stands in a request. */
export type Parameter = { in: Location; name: string; field: Field; value: unknown; written: Style };

/** How a value is written when the document does not say. */
const usualStyle: Record<Location, string> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
  other: '',
};

function locationOf(value: unknown): Location {
  return locations.find((location) => location === value) ?? 'other';
}

/**
 * The parameters of an operation: those of its path, except where the operation has one of the same name and place.
 * What cannot be read comes back as a field of its own that shows it.
 */
export function readParameters(shared: Shared, operationId: string, lists: readonly unknown[]): Parameter[] {
  const chosen = new Map<string, unknown>();
  lists.forEach((list, level) => {
    if (list === undefined) return;
    for (const [index, parameter] of (Array.isArray(list) ? list : [list]).entries()) {
      const { value } = follow(shared.document, parameter);
      const readable = isDict(value) && typeof value.name === 'string';
      chosen.set(readable ? `${value.in} ${value.name}` : `? ${level} ${index}`, parameter);
    }
  });
  return [...chosen.values()].map((parameter) => readParameter(shared, operationId, parameter));
}

function readParameter(shared: Shared, operationId: string, parameter: unknown): Parameter {
  const { value, fault } = follow(shared.document, parameter);
  const name = isDict(value) && typeof value.name === 'string' ? value.name : '';
  const place = locationOf(isDict(value) ? value.in : undefined);
  const field = emptyField(anchorFor(shared, `${operationId}.${place}.${name || 'parameter'}`), name);
  if (!isDict(value)) {
    field.name = 'A parameter that cannot be read';
    field.named = 'us';
    if (fault === undefined) field.blocks.push({ title: 'Parameter', text: print(value) });
    else field.faults.push(fault);
    return { in: place, name, field, value: undefined, written: styleOf({}, place) };
  }
  const { name: _name, in: written, ...others } = value;
  const left = place === 'other' && written !== undefined ? { ...others, in: written } : others;
  const rest =
    typeof value.name === 'string' || value.name === undefined ? left : { ...left, name: value.name };
  const made = readValue(shared, rest, field, place);
  return { in: place, name, field, value: made, written: styleOf(value, place) };
}

/** How the value of a parameter is written: as it says, else as its place has it. */
function styleOf(parameter: object, place: Location): Style {
  const { style, explode, allowReserved, content } = { ...parameter } as Record<string, unknown>;
  const chosen = typeof style === 'string' ? style : usualStyle[place];
  const [mediaType] = isDict(content) ? Object.keys(content) : [];
  return {
    style: chosen,
    explode: typeof explode === 'boolean' ? explode : chosen === 'form',
    reserved: allowReserved === true,
    ...(mediaType !== undefined && { mediaType }),
  };
}

/** A header of a response: a parameter without name and place. */
export function readHeader(shared: Shared, id: string, name: string, header: unknown): Field {
  const field = emptyField(anchorFor(shared, id), name);
  const { value, fault } = follow(shared.document, header);
  if (fault !== undefined) field.faults.push(fault);
  else if (!isDict(value)) field.blocks.push({ title: 'Header', text: print(value) });
  else readValue(shared, value, field, 'header');
  return field;
}

/** Reads what parameters and headers have in common into a field, and gives a value to show in samples. */
function readValue(shared: Shared, value: object, field: Field, place: Location): unknown {
  const { document } = shared;
  const from = membersOf({ ...value });
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
  const examples = from.dict('examples');
  const content = from.dict('content');
  const [[mediaType, media] = [], ...otherMedia] = Object.entries(content ?? {});
  const schema = mediaType === undefined ? from.any('schema') : isDict(media) ? media.schema : undefined;
  if (mediaType !== undefined) field.facts.push({ label: 'Written as', codes: [mediaType] });
  if (schema !== undefined) readSchema(shared, schema, field);
  if (example !== undefined) addValue('Example', example, field.facts, field.blocks);
  if (examples) readExamples(document, examples, field);
  if (isDict(media)) {
    const { schema: _schema, example: told, examples: several, ...others } = media;
    if (told !== undefined) addValue('Example', told, field.facts, field.blocks);
    if (isDict(several)) readExamples(document, several, field);
    else if (several !== undefined) addRest({ examples: several }, field.blocks);
    addRest(membersOf(others).rest(), field.blocks);
  }
  if (otherMedia.length > 0) addRest({ content: Object.fromEntries(otherMedia) }, field.blocks);
  addRest(from.rest(), field.blocks);
  const given = [example, exampleOf(document, examples), memberOf(media, 'example')].find(
    (one) => one !== undefined,
  );
  const said = given ?? exampleOf(document, memberOf(media, 'examples'));
  return said ?? (schema === undefined ? undefined : sketchGiven(document, schema));
}

/** The value of the first of several examples. */
function exampleOf(document: unknown, examples: unknown): unknown {
  const [first] = isDict(examples) ? Object.values(examples) : [];
  return memberOf(follow(document, first).value, 'value');
}

/** Examples with a name: the value, and what is said of it. */
function readExamples(document: unknown, examples: Dict, field: Field): void {
  for (const [name, given] of Object.entries(examples)) {
    const { value: followed, fault } = follow(document, given);
    const from = membersOf(isDict(followed) ? followed : {});
    const title = from.text('summary') ?? name;
    const shown = from.has('value') ? from.any('value') : (fault ?? followed);
    addValue(`Example ${title}`, shown, field.facts, field.blocks);
    const description = from.text('description');
    if (description !== undefined) field.facts.push({ label: title, text: description });
    if (from.has('value')) addRest(from.rest(), field.blocks);
  }
}

/** Only what the document says of the value: a made-up word is worse in an address than the parameter's own name. */
function sketchGiven(document: unknown, schema: unknown): unknown {
  const made = sketch(document, schema, 'request');
  const isMadeUp = typeof made === 'string' && /^string-*$/.test(made);
  return isMadeUp || typeof made === 'object' ? undefined : made;
}
