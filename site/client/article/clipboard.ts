/**
 * Puts text on the clipboard; false when the browser refuses. The text may still be on its way: Safari wants to be told in
 * the click itself that there will be one.
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

/** Copies where the clipboard may not be written, as on a page served over plain HTTP from another machine. */
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
