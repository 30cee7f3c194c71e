import { dereference } from '../model/document/dereference.ts';
import { formatCompactJson, getOwnMember, isJsonObject, type JsonObject } from '../model/document/json.ts';

/** Members whose text is addressed to readers. */
const TEXT_MEMBERS = new Set([
  'description',
  'summary',
  'title',
  'pattern',
  'default',
  'example',
  'enum',
  'name',
]);

/** Members that hold data, whose members are not those of a document. `value` is that of an example. */
const DATA_MEMBERS = new Set(['example', 'mapping', 'value']);

/** Patterns that the page puts in words. */
const PATTERNS_IN_WORDS = new Map([
  ['^[^\\u0000]*$', 'no NUL character'],
  [
    '^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]*$',
    'one line, without control characters and bidirectional marks',
  ],
]);

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;');
}

/**
 * Reduces text or HTML to letters and digits, because Markdown removes marks and line ends are free. The address of a
 * link counts as following its words, as it does in Markdown.
 */
function reduceToLetters(text: string): string {
  return text
    .replace(/<a href="([^"#][^"]*)">([\s\S]*?)<\/a>/g, '$2$1')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#x27);/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Collects what a rendered operation lacks. */
class MissingContent {
  readonly missing = new Set<string>();
  readonly #document: unknown;
  readonly #html: string;
  readonly #letters: string;
  readonly #seenPointers = new Set<string>();

  constructor(document: unknown, html: string) {
    this.#document = document;
    this.#html = html;
    this.#letters = reduceToLetters(html);
  }

  /** Looks for everything in a part of the document. `label` names the part in the findings. */
  check(node: unknown, label: string): void {
    if (Array.isArray(node)) for (const item of node) this.check(item, label);
    if (!isJsonObject(node)) return;
    const { value, pointers } = dereference(this.#document, node);
    if (pointers.some((pointer) => this.#seenPointers.has(pointer))) return;
    for (const pointer of pointers) this.#seenPointers.add(pointer);
    if (!isJsonObject(value)) return;
    if (typeof value.in === 'string' && typeof value.name === 'string')
      this.#checkName(value.name, 'parameter');
    for (const one of Array.isArray(value.enum) ? value.enum : [])
      this.#checkName(typeof one === 'string' ? one : formatCompactJson(one), 'value');
    for (const [key, member] of Object.entries(value)) this.#checkMember(key, member);
  }

  #checkMember(key: string, member: unknown): void {
    if (['responses', 'content', 'headers'].includes(key) && isJsonObject(member))
      this.#checkKeys(key, member);
    if (key === 'properties' && isJsonObject(member)) {
      for (const [name, schema] of Object.entries(member)) {
        this.#checkName(name, 'field');
        this.check(schema, name);
      }
    } else if (TEXT_MEMBERS.has(key) && !isJsonObject(member)) {
      const text = typeof member === 'string' ? member : formatCompactJson(member);
      this.#checkText((key === 'pattern' && PATTERNS_IN_WORDS.get(text)) || text, key);
    } else if (key.startsWith('x-')) this.#checkText(`${key}${formatCompactJson(member)}`, 'extension');
    else if (!DATA_MEMBERS.has(key)) this.check(member, key);
  }

  #checkKeys(label: string, members: JsonObject): void {
    for (const name of Object.keys(members)) {
      if (!name.startsWith('x-') && !this.#html.includes(`>${escapeHtml(name)}</code>`))
        this.missing.add(`${label}: ${name}`);
    }
  }

  /** A name must be a piece of code or a part of JSON; the same letters inside other words do not count. */
  #checkName(name: string, label: string): void {
    const written = [`<code>${escapeHtml(name)}</code>`, escapeHtml(formatCompactJson(name))];
    if (!written.some((text) => this.#html.includes(text))) this.missing.add(`${label}: ${name}`);
  }

  #checkText(text: string, label: string): void {
    if (this.#includesText(text)) return;
    // The page moves or leaves out tags, numbers of lists and addresses of links: the words between them must be there.
    const missing = text
      .split(/<[^<>]*>|\]\((?:#[^)]*)?|\)|^[>\s]*\d+[.)]\s|https?:\/\/\S*|```\w*|\n/m)
      .find((piece) => !this.#includesText(piece));
    if (missing !== undefined) this.missing.add(`${label}: ${missing.slice(0, 120)}`);
  }

  #includesText(text: string): boolean {
    return this.#letters.includes(reduceToLetters(escapeHtml(text)));
  }
}

/**
 * Lists the words, values and names of an operation that its HTML lacks, as `label: text`. References are followed, and a
 * schema counts as shown at its first place, so that circles end.
 */
export function findMissingContent(
  document: unknown,
  { method, path }: { method: string; path: string },
  html: string,
): string[] {
  const content = new MissingContent(document, html);
  const item = dereference(document, getOwnMember(getOwnMember(document, 'paths'), path)).value;
  content.check(getOwnMember(item, 'parameters'), 'parameters');
  content.check(getOwnMember(item, method), method);
  return [...content.missing];
}
