import { dereference } from '../model/document/dereference.ts';
import { formatCompactJson, getOwnMember, isJsonObject } from '../model/document/json.ts';

/** Members whose text says something to a reader, and extensions. */
const speaking = new Set([
  'description',
  'summary',
  'title',
  'pattern',
  'default',
  'example',
  'enum',
  'name',
]);

/** What is said in other words. */
const inWords = new Map([['^[^\\u0000]*$', 'no NUL character']]);

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;');
}

/**
 * Letters and digits alone: Markdown takes marks away and line ends are free. The address of a link counts as standing
 * after its words, as it does in Markdown.
 */
function bare(text: string): string {
  return text
    .replace(/<a href="([^"#][^"]*)">([\s\S]*?)<\/a>/g, '$2$1')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#x27);/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/**
 * What the document says of an operation and its page does not: words, values and names of fields, as far as references
 * lead. A schema counts as shown where its first place is, so that circles end.
 */
export function findMissingContent(document: unknown, method: string, path: string, html: string): string[] {
  const shown = bare(html);
  const missing = new Set<string>();
  const seen = new Set<string>();
  const look = (text: string, what: string) => {
    const words = bare(escaped(text));
    if (words === '' || shown.includes(words)) return;
    // Tags, numbers of lists and addresses of links stand elsewhere or not at all: the words between them must be there.
    const lost = text
      .split(/<[^<>]*>|\]\((?:#[^)]*)?|\)|^[>\s]*\d+[.)]\s|https?:\/\/\S*|```\w*|\n/m)
      .find((piece) => !shown.includes(bare(escaped(piece))));
    if (lost !== undefined) missing.add(`${what}: ${lost.slice(0, 120)}`);
  };
  // A name is a piece of code of its own or stands in JSON; letters that other words happen to have do not count.
  const find = (name: string, what: string) => {
    const written = [`<code>${escaped(name)}</code>`, escaped(formatCompactJson(name))];
    if (!written.some((text) => html.includes(text))) missing.add(`${what}: ${name}`);
  };
  const walk = (node: unknown, at: string): void => {
    if (Array.isArray(node)) {
      for (const item of node) walk(item, at);
      return;
    }
    if (!isJsonObject(node)) return;
    const { value, pointers } = dereference(document, node);
    if (pointers.some((pointer) => seen.has(pointer))) return;
    for (const pointer of pointers) seen.add(pointer);
    if (!isJsonObject(value)) return;
    if (typeof value.in === 'string' && typeof value.name === 'string') find(value.name, 'parameter');
    if (Array.isArray(value.enum))
      for (const one of value.enum) find(typeof one === 'string' ? one : formatCompactJson(one), 'value');
    for (const [key, member] of Object.entries(value)) {
      if ((key === 'responses' || key === 'content' || key === 'headers') && isJsonObject(member)) {
        for (const name of Object.keys(member)) {
          if (!name.startsWith('x-') && !html.includes(`>${escaped(name)}</code>`))
            missing.add(`${key}: ${name}`);
        }
      }
      if (key === 'properties' && isJsonObject(member)) {
        for (const [name, schema] of Object.entries(member)) {
          find(name, 'field');
          walk(schema, name);
        }
      } else if (speaking.has(key) && !isJsonObject(member)) {
        const text = typeof member === 'string' ? member : formatCompactJson(member);
        look((key === 'pattern' && inWords.get(text)) || text, key);
      } else if (key.startsWith('x-')) look(`${key}${formatCompactJson(member)}`, 'extension');
      else if (key !== 'example' && key !== 'mapping') walk(member, key);
    }
  };
  const item = dereference(document, getOwnMember(getOwnMember(document, 'paths'), path)).value;
  walk(getOwnMember(item, 'parameters'), 'parameters');
  walk(getOwnMember(item, method), method);
  return [...missing];
}
