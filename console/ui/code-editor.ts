/** CodeMirror for JSON, in the colours of the design. A script of its own: it is 120 kB. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { linter, lintGutter } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

interface EditorSettings {
  root: ShadowRoot;
  label: string;
  text: string;
  isReadOnly: boolean;
  onChange(text: string): void;
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-function)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-constant)' },
  { tag: [tags.brace, tags.squareBracket, tags.separator], color: 'var(--code-punctuation)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', fontSize: '0.87rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-gutters': { background: 'var(--ground)', color: 'var(--soft)', border: 'none' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-ground)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    background: 'var(--accent-ground)',
    outline: '1px solid var(--rail)',
  },
  '.cm-tooltip': { background: 'var(--raised)', color: 'var(--ink)', borderColor: 'var(--rail)' },
  '.cm-foldPlaceholder': { background: 'var(--ground)', color: 'var(--soft)', borderColor: 'var(--line)' },
});

const lintJson = jsonParseLinter();

/** Opens an editor in the shadow tree. An empty text has no error: it is not written yet. */
export function openJsonEditor({ root, label, text, isReadOnly, onChange }: EditorSettings) {
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        drawSelection(),
        bracketMatching(),
        // Tab leaves the editor, so that the keyboard alone reaches the rest of the page.
        keymap.of([...defaultKeymap, ...historyKeymap]),
        json(),
        linter((editor) => (editor.state.doc.length === 0 ? [] : lintJson(editor))),
        syntaxHighlighting(colours),
        theme,
        EditorState.readOnly.of(isReadOnly),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText(next: string) {
      if (view.state.doc.toString() === next) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    close: () => view.destroy(),
  };
}
