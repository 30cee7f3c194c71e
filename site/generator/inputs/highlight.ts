import { createCssVariablesTheme, createHighlighterCore } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import type { Token } from '../../page-data.ts';

/**
 * The languages that a fence may name, with their grammars; `text` has none. A grammar is loaded only when a page uses
 * it, so an unused language costs nothing.
 */
const grammars = {
  bash: () => import('shiki/langs/bash.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  http: () => import('shiki/langs/http.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  js: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  ts: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
} as const;

export const CODE_LANGUAGES: readonly string[] = ['text', ...Object.keys(grammars)].sort();

/** Returns the coloured tokens of each line. */
export type HighlightCode = (code: string, language: string) => Token[][];
/** A highlighter keeps the compiled grammars in memory until it is disposed. */
export type Highlighter = Disposable & { highlight: HighlightCode };

const variablePrefix = '--code-';
const plain = 'foreground';

/** One short class per token kind of the theme; the style sheet gives each its colour in every theme. */
const classes: Record<string, string> = {
  'token-constant': 'c',
  'token-string': 's',
  'token-comment': 'm',
  'token-keyword': 'k',
  'token-parameter': 'p',
  'token-function': 'f',
  'token-string-expression': 's',
  'token-punctuation': 'u',
  'token-link': 'l',
};

/** Creates a highlighter for the languages that the content uses. It runs at build time only. */
export async function createHighlighter(used: Iterable<string>): Promise<Highlighter> {
  const wanted = [...new Set(used)].filter((name): name is keyof typeof grammars => name in grammars);
  const highlighter = await createHighlighterCore({
    themes: [createCssVariablesTheme({ name: 'classes', variablePrefix, fontStyle: false })],
    langs: wanted.map((name) => grammars[name]()),
    engine: createJavaScriptRegexEngine(),
  });
  const getClass = (color: string | undefined) => {
    const name = color?.match(/^var\(--code-([a-z-]+)\)$/)?.[1] ?? plain;
    return name === plain ? undefined : classes[name];
  };
  const highlight: HighlightCode = (code, language) => {
    if (!(language in grammars)) return code.split('\n').map((text) => [{ text }]);
    // Shiki's time limit for each line would make colours depend on the load of the machine; 0 is no limit.
    const options = { lang: language, theme: 'classes', tokenizeTimeLimit: 0 };
    return highlighter.codeToTokensBase(code, options).map((line) => {
      const tokens: Token[] = [];
      for (const { content, color } of line) {
        const name = getClass(color);
        const last = tokens.at(-1);
        // Neighbours of one colour become one element, and blanks get the colour of the token before them.
        if (last && (last.class === name || content.trim() === '')) last.text += content;
        else tokens.push(name === undefined ? { text: content } : { text: content, class: name });
      }
      return tokens;
    });
  };
  return { highlight, [Symbol.dispose]: () => highlighter.dispose() };
}
