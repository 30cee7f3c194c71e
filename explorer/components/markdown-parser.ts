/**
 * Markdown of descriptions as a tree, for what authors of API documents use. It holds no HTML: the few tags they write
 * become the Markdown they stand for, and any other is shown as the characters it is. A link that is not to the web, to
 * mail or into the site is only its text.
 */

export type InlineNode =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong'; children: InlineNode[] }
  | { kind: 'emphasis'; children: InlineNode[] }
  | { kind: 'link'; href: string; children: InlineNode[] }
  | { kind: 'break' };

export type BlockNode =
  | { kind: 'paragraph' | 'heading'; children: InlineNode[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; ordered: boolean; items: BlockNode[][] }
  | { kind: 'quote'; children: BlockNode[] }
  | { kind: 'table'; head: InlineNode[][]; rows: InlineNode[][][] }
  | { kind: 'rule' };

/** Lists and quotes nested deeper than this are plain text. */
const deepest = 8;

const safeLink = /^(https?:\/\/|mailto:|\/(?!\/)|#)/i;

/** Tags that are only another way to write Markdown. Code is left alone. */
function withoutTags(text: string): string {
  if (!text.includes('<')) return text;
  return text
    .split(/(```[\s\S]*?(?:```|$)|`[^`\n]*`)/)
    .map((piece, index) =>
      index % 2 === 1
        ? piece
        : piece
            .replace(/<br\s*\/?>/gi, '  \n')
            .replace(/<\/?p(\s[^<>]*)?>/gi, '\n\n')
            .replace(/<\/?(b|strong)>/gi, '**')
            .replace(/<\/?(i|em)>/gi, '*')
            .replace(/<\/?code>/gi, '`')
            .replace(/<a\s[^<>]*?href="([^"<>]*)"[^<>]*>([^<]*)<\/a>/gi, '[$2]($1)')
            .replace(/<li>\s*/gi, '\n- ')
            .replace(/<\/?(ul|ol|li)>/gi, '\n'),
    )
    .join('');
}

/** Reads Markdown. Any text gives a tree. */
export function parseMarkdown(markdown: string): BlockNode[] {
  return readBlocks(withoutTags(markdown.replace(/\r\n?/g, '\n')).split('\n'), 0);
}

const fence = /^ {0,3}(`{3,}|~{3,})/;
const item = /^( *)([-*+]|\d{1,9}[.)])(?: +|$)/;
const rule = /^ {0,3}([-*_])( *\1){2,} *$/;
const tableLine = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$|^\s*\|\s*:?-+:?\s*\|\s*$/;

function readBlocks(lines: readonly string[], depth: number): BlockNode[] {
  const blocks: BlockNode[] = [];
  let at = 0;
  while (at < lines.length) {
    const read = readBlock(lines, at, depth);
    if (read.block) blocks.push(read.block);
    at = Math.max(read.next, at + 1);
  }
  return blocks;
}

/** Reads the block that starts at a line; `next` is the line after it. */
function readBlock(lines: readonly string[], at: number, depth: number): { block?: BlockNode; next: number } {
  const line = lines[at] ?? '';
  if (line.trim() === '') return { next: at + 1 };
  const mark = fence.exec(line)?.[1];
  if (mark !== undefined) {
    const closing = lines.findIndex((other, i) => i > at && other.trim().startsWith(mark));
    const end = closing === -1 ? lines.length : closing;
    return { block: { kind: 'code', text: lines.slice(at + 1, end).join('\n') }, next: end + 1 };
  }
  const heading = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1];
  if (heading !== undefined)
    return { block: { kind: 'heading', children: readInline(heading) }, next: at + 1 };
  if (rule.test(line)) return { block: { kind: 'rule' }, next: at + 1 };
  if (line.includes('|') && tableLine.test(lines[at + 1] ?? '')) return readTable(lines, at);
  if (depth < deepest && /^ {0,3}>/.test(line)) {
    const end = endOf(lines, at, (other) => other.trim() !== '');
    const inner = lines.slice(at, end).map((other) => other.replace(/^ {0,3}> ?/, ''));
    return { block: { kind: 'quote', children: readBlocks(inner, depth + 1) }, next: end };
  }
  if (depth < deepest && item.test(line)) return readList(lines, at, depth);
  const starts = (other: string) =>
    fence.test(other) || item.test(other) || /^ {0,3}(#{1,6}\s|>)/.test(other);
  const end = endOf(lines, at + 1, (other) => other.trim() !== '' && !starts(other));
  return { block: { kind: 'paragraph', children: readInline(lines.slice(at, end).join('\n')) }, next: end };
}

function endOf(lines: readonly string[], from: number, goesOn: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && goesOn(lines[end] ?? '')) end += 1;
  return end;
}

function readList(lines: readonly string[], at: number, depth: number): { block: BlockNode; next: number } {
  const first = item.exec(lines[at] ?? '');
  const indent = first?.[1]?.length ?? 0;
  const ordered = /\d/.test(first?.[2] ?? '');
  const items: string[][] = [];
  let next = at;
  while (next < lines.length) {
    const line = lines[next] ?? '';
    const marked = item.exec(line);
    const width = line.length - line.trimStart().length;
    const same =
      marked !== null && width <= indent + 1 && /\d/.test(marked[2] ?? '') === ordered && !rule.test(line);
    const blank = line.trim() === '';
    const before = (lines[next - 1] ?? '').trim() === '';
    if (same) items.push([line.slice(marked[0].length)]);
    else if (blank || width > indent + 1 || (!before && marked === null && !fence.test(line))) {
      items.at(-1)?.push(line.slice(Math.min(width, indent + (first?.[0].trimStart().length ?? 2))));
    } else break;
    next += 1;
  }
  return {
    block: { kind: 'list', ordered, items: items.map((inner) => readBlocks(inner, depth + 1)) },
    next,
  };
}

function cellsOf(line: string): InlineNode[][] {
  const cells = line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/);
  return cells.map((cell) => readInline(cell.trim().replaceAll('\\|', '|')));
}

function readTable(lines: readonly string[], at: number): { block: BlockNode; next: number } {
  const end = endOf(lines, at + 2, (line) => line.includes('|') && line.trim() !== '');
  const rows = lines.slice(at + 2, end).map(cellsOf);
  return { block: { kind: 'table', head: cellsOf(lines[at] ?? ''), rows }, next: end };
}

const inline =
  /(?<code>(?<ticks>`+)(?!`)(?<codeText>[\s\S]*?[^`])\k<ticks>(?!`))|(?<escape>\\[!-/:-@[-`{-~])|!?\[(?<label>(?:[^[\]\\]|\\.)*)\]\((?<target><[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+"[^"]*")?\)|<(?<auto>https?:\/\/[^\s<>]+)>|(?<bare>\bhttps?:\/\/[^\s<>()"'`\]]*[^\s<>()"'`\].,;:!?*_])|(?<strong>\*\*|__)(?=\S)(?<strongText>[\s\S]*?\S)\k<strong>|(?<!\w)(?<em>[*_])(?=[^\s*_])(?<emText>[^*_]*?[^\s*_])\k<em>(?!\w)|(?<hard> {2,}\n|\\\n)/g;

function readInline(text: string): InlineNode[] {
  const parts: InlineNode[] = [];
  const say = (words: string) => {
    const last = parts.at(-1);
    if (words === '') return;
    if (last?.kind === 'text') last.text += words;
    else parts.push({ kind: 'text', text: words });
  };
  let at = 0;
  for (const match of text.matchAll(inline)) {
    const groups = match.groups ?? {};
    say(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (groups.codeText !== undefined)
      parts.push({ kind: 'code', text: groups.codeText.replaceAll('\n', ' ') });
    else if (groups.escape !== undefined) say(groups.escape.slice(1));
    else if (groups.label !== undefined) parts.push(...link(groups.target ?? '', readInline(groups.label)));
    else if (groups.auto !== undefined || groups.bare !== undefined) {
      const href = groups.auto ?? groups.bare ?? '';
      parts.push(...link(href, [{ kind: 'text', text: href }]));
    } else if (groups.strongText !== undefined) {
      parts.push({ kind: 'strong', children: readInline(groups.strongText) });
    } else if (groups.emText !== undefined) {
      parts.push({ kind: 'emphasis', children: readInline(groups.emText) });
    } else parts.push({ kind: 'break' });
  }
  say(text.slice(at));
  return parts;
}

/** A link where it is safe to follow; else its words and the address as text, so that nothing is lost. */
function link(target: string, children: InlineNode[]): InlineNode[] {
  const href = target.replace(/^<|>$/g, '');
  if (safeLink.test(href)) return [{ kind: 'link', href, children: children.map(unlinked) }];
  return href === '' ? children : [...children, { kind: 'text', text: ` (${href})` }];
}

/** Links do not stand in links. */
function unlinked(part: InlineNode): InlineNode {
  if (part.kind === 'link') return { kind: 'emphasis', children: part.children };
  return part;
}
