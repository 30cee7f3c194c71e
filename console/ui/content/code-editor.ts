/**
 * A read-only CodeMirror in a shadow root. There its styles are adopted style sheets, which the security policy of the page
 * allows; in the document they would be an inline `<style>`, which it refuses.
 */
import { json } from '@codemirror/lang-json';
import { foldGutter, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Colours of a longer text would cost more than they help. */
const HIGHLIGHTED_CHARACTERS_MAX = 2_000_000;

/** The colours of JSON. */
export const highlighting = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.propertyName, color: 'var(--code-function)' },
    { tag: tags.string, color: 'var(--code-string)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-constant)' },
    { tag: tags.punctuation, color: 'var(--code-punctuation)' },
  ]),
);

const theme = EditorView.theme({
  '&': { height: 'min(36rem, 70vh)', color: 'var(--ink)', fontSize: '0.87rem' },
  '.cm-scroller': { fontFamily: 'var(--mono)', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--soft)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-specialChar': { color: 'var(--bad)' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
});

/** Shows the text in `host` until the returned function is called. */
export function showCode(host: HTMLElement, text: string, options: { isJson: boolean; label: string }) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const language = options.isJson && text.length <= HIGHLIGHTED_CHARACTERS_MAX ? [json(), foldGutter()] : [];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightSpecialChars(),
        drawSelection(),
        language,
        highlighting,
        theme,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({
          'aria-label': options.label,
          'aria-readonly': 'true',
          tabindex: '0',
        }),
      ],
    }),
  });
  return () => view.destroy();
}
