/**
 * Copies text to the clipboard; returns false when the browser refuses. The text may be a promise, because Safari accepts
 * a write only in the handler of the click itself.
 */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  try {
    const { clipboard } = navigator;
    if (!clipboard) return copyBySelection(await text);
    if (typeof text === 'string') await clipboard.writeText(text);
    else await clipboard.write([new ClipboardItem({ 'text/plain': text.then(plainText) })]);
    return true;
  } catch {
    return copyBySelection(await Promise.resolve(text).catch(() => ''));
  }
}

function plainText(text: string): Blob {
  return new Blob([text], { type: 'text/plain' });
}

/** Copies without the Clipboard API, which browsers hide on pages served over plain HTTP from another machine. */
function copyBySelection(text: string): boolean {
  if (text === '') return false;
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'visually-hidden';
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return done;
}
