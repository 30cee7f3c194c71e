/** CodeMirror for JSON, in the colours of the design. It is a separate script, because it has 120 kB. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter } from '@codemirror/language';
import { linter, lintGutter } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { highlighting } from '../content/code-editor.ts';

interface EditorSettings {
  root: ShadowRoot;
  label: string;
  text: string;
  onChange(text: string): void;
}

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

/**
 * Replaces selected text by typed text. Left to Chromium, it puts an inline style into the line to keep the colours of the
 * replaced text, which the security policy reports as an error.
 */
function replaceRange(event: InputEvent, view: EditorView): boolean {
  if (event.inputType !== 'insertText' || event.data === null) return false;
  // The editor learns of a new selection by an event of the document, which may come after the first key.
  const selection = view.root instanceof ShadowRoot ? readSelection(view.root) : null;
  if (view.state.selection.main.empty && (selection === null || selection.isCollapsed)) return false;
  event.preventDefault();
  if (view.state.selection.main.empty && selection?.anchorNode && selection.focusNode) {
    const anchor = view.posAtDOM(selection.anchorNode, selection.anchorOffset);
    const head = view.posAtDOM(selection.focusNode, selection.focusOffset);
    view.dispatch({ selection: { anchor, head } });
  }
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type' });
  return true;
}

/** Returns the selection inside a shadow tree, which only Chromium offers; other browsers keep no colours. */
function readSelection(root: ShadowRoot): Selection | null {
  return 'getSelection' in root && typeof root.getSelection === 'function' ? root.getSelection() : null;
}

/** Opens an editor in the shadow tree. An empty text has no error: it is not written yet. */
export function openJsonEditor({ root, label, text, onChange }: EditorSettings) {
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
        highlighting,
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.domEventHandlers({ beforeinput: replaceRange }),
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
