/** Returns whether the key goes to a field for text. A field in a shadow root, such as an editor, counts. */
export function isTextTarget(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type="checkbox"]), textarea, select'))
  );
}
