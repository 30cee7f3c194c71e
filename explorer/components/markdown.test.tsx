import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { formatSingleLine, Markdown } from './markdown.tsx';

/** Returns the HTML of a description without the element around it. */
function renderMarkdown(text: string): string {
  return renderToStaticMarkup(<Markdown text={text} />)
    .replace(/^<p class="api-text">/, '<p>')
    .replace(/^<div class="api-text">|<\/div>$/g, '');
}

describe('Markdown of descriptions', () => {
  test.for([
    ['Plain words.', '<p>Plain words.</p>'],
    ['One.\n\nTwo.', '<p>One.</p><p>Two.</p>'],
    ['**b** *i* `c`', '<p><strong>b</strong> <em>i</em> <code>c</code></p>'],
    ['snake_case_name and 2*3 * 4', '<p>snake_case_name and 2*3 * 4</p>'],
    ['# Title\ntext', '<p><strong>Title</strong></p><p>text</p>'],
    ['a<br>b', '<p>a<br/>b</p>'],
    ['---', '<hr/>'],
    ['> a', '<blockquote><p>a</p></blockquote>'],
    ['- a\n  - b\n- c', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>'],
    ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['![a](https://example.org/a.png)', '<p><a href="https://example.org/a.png">a</a></p>'],
    [
      '<p>One <code>a</code> <a href="https://example.org">there</a></p><ul><li>x</li></ul>',
      '<p>One <code>a</code> <a href="https://example.org">there</a></p><ul><li>x</li></ul>',
    ],
  ] as const)('%j', ([markdown, html]) => {
    expect(renderMarkdown(markdown).replaceAll('\n', '')).toBe(html);
  });

  test('shows a fence as code, with the tags and marks in it', () => {
    expect(renderMarkdown('```js\n<b>*x*\n```')).toContain('<code>&lt;b&gt;*x*</code>');
  });

  test.for(['> ', '- '])('shows the words behind 200 of %j', (mark) => {
    expect(renderMarkdown(`${mark.repeat(200)}words`)).toContain('words');
  });

  test('renders tables with their cells', () => {
    const html = renderMarkdown('| a | b |\n|---|:-:|\n| 1 | `x \\| y` |');
    expect(html).toMatch(
      /<th>a<\/th>[\s\S]*<th>b<\/th>[\s\S]*<td>1<\/td>[\s\S]*<td><code>x \| y<\/code><\/td>/,
    );
  });

  test.for([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](data:text/html,x)',
    '[x](//evil.example/)',
    '[x](<javascript:alert(1)>)',
    '<a href="javascript:alert(1)">x</a>',
    '<javascript:alert(1)>',
    '[x](java\tscript:alert(1))',
    '![x](vbscript:x)',
    '[x]: javascript:alert(1)\n\n[x]',
  ])('renders %j as text', (markdown) => {
    expect(renderMarkdown(markdown)).not.toMatch(/<a|<img/);
  });

  test.for(['https://example.org/a_b', 'mailto:a@example.org', '/docs/a#b', '#here'])(
    'renders %s as a link',
    (href) => {
      expect(renderMarkdown(`[x](${href})`)).toBe(`<p><a href="${href}">x</a></p>`);
    },
  );

  test('renders a bare address as a link without the full stop after it', () => {
    expect(renderMarkdown('See https://example.org/a_b.')).toBe(
      '<p>See <a href="https://example.org/a_b">https://example.org/a_b</a>.</p>',
    );
  });

  test.for(['*', '`', '[', '**a ', '- ', '> ', '|', '<', '\\', '1. ', '~~~', '[a](', '_a '])(
    'renders 3,000 of %j',
    (piece) => {
      expect(renderMarkdown(piece.repeat(3000)).length).toBeGreaterThan(0);
    },
  );
});

describe('a description on a single line', () => {
  test.for([
    ['The run `id`.', 'The run id.'],
    ['**Bold**', undefined],
    ['[a](https://example.org)', undefined],
    ['One.\n\nTwo.', undefined],
    ['x'.repeat(161), undefined],
    ['', undefined],
  ] as const)('%j is %j', ([markdown, line]) => {
    expect(formatSingleLine(markdown)).toBe(line);
  });
});
