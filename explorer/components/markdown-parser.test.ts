import { describe, expect, test } from 'vitest';
import { parseMarkdown } from './markdown-parser.ts';

/** The tree in short: what it is and what is in it. */
function told(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(told);
  if (typeof node !== 'object' || node === null) return node;
  const { kind, ...rest } = node as { kind: string };
  const inside = Object.values(rest).map(told);
  return kind === 'text' || kind === 'paragraph' ? inside.flat() : [kind, ...inside];
}

const tree = (markdown: string) => JSON.stringify(told(parseMarkdown(markdown)));

describe('Markdown of descriptions', () => {
  test.for([
    ['Plain words.', '[["Plain words."]]'],
    ['One.\n\nTwo.', '[["One."],["Two."]]'],
    ['**b** *i* `c`', '[[["strong",[["b"]]]," ",["emphasis",[["i"]]]," ",["code","c"]]]'],
    ['snake_case_name and 2*3*4', '[["snake_case_name and 2*3*4"]]'],
    ['# Title\ntext', '[["heading",["Title"]],["text"]]'],
    ['```js\n<b>*x*\n```', '[["code","<b>*x*"]]'],
    ['a<br>b', '[["a",["break"],"b"]]'],
    ['---', '[["rule"]]'],
  ] as const)('%j', ([markdown, expected]) => {
    const flat = (text: string) => text.replace(/\[|\]/g, '');
    expect(flat(tree(markdown))).toBe(flat(expected));
  });

  test('lists hold lists, and tables have cells', () => {
    expect(parseMarkdown('- a\n  - b\n- c')).toMatchObject([
      {
        kind: 'list',
        ordered: false,
        items: [[{ kind: 'paragraph' }, { kind: 'list', items: [[{}]] }], [{}]],
      },
    ]);
    expect(parseMarkdown('| a | b |\n|---|:-:|\n| 1 | `x \\| y` |')).toMatchObject([
      {
        kind: 'table',
        head: [[{ text: 'a' }], [{ text: 'b' }]],
        rows: [[[{ text: '1' }], [{ kind: 'code', text: 'x | y' }]]],
      },
    ]);
  });

  test('the tags that stand for Markdown are Markdown', () => {
    expect(
      parseMarkdown('<p>One <code>a</code> <a href="https://example.org">there</a></p><ul><li>x</li></ul>'),
    ).toMatchObject([
      {
        kind: 'paragraph',
        children: [{}, { kind: 'code', text: 'a' }, {}, { kind: 'link', href: 'https://example.org' }],
      },
      { kind: 'list', items: [[{}]] },
    ]);
  });

  test.for([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](data:text/html,x)',
    '[x](//evil.example/)',
    '[x](<javascript:alert(1)>)',
    '<a href="javascript:alert(1)">x</a>',
    '[x](java\tscript:alert(1))',
    '![x](vbscript:x)',
  ])('%j is no link', (markdown) => {
    expect(JSON.stringify(parseMarkdown(markdown))).not.toContain('"link"');
  });

  test.for(['https://example.org/a_b', 'mailto:a@example.org', '/docs/a#b', '#here'])(
    '%s is a link',
    (href) => {
      expect(JSON.stringify(parseMarkdown(`[x](${href})`))).toContain(`"href":"${href}"`);
    },
  );

  test.for(['*', '`', '[', '**a ', '- ', '> ', '|', '<', '\\', '1. ', '~~~', '[a](', '_a '])(
    'many of %j end',
    (piece) => {
      expect(parseMarkdown(piece.repeat(3000)).length).toBeGreaterThan(0);
    },
  );
});
