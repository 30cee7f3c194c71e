const confirmationMs = 3000;

/** Copies where the clipboard may not be written, as on a page served over plain HTTP from another machine. */
function copyBySelection(code: HTMLElement): boolean {
  const selection = getSelection();
  if (!selection) return false;
  selection.selectAllChildren(code);
  const done = document.execCommand('copy');
  if (done) selection.removeAllRanges();
  return done;
}

async function copy(code: HTMLElement): Promise<boolean> {
  const text = code.textContent;
  if (!navigator.clipboard) return copyBySelection(code);
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(code);
  }
}

/** Copy buttons: a confirmation stands in the button, and is spoken, for three seconds. */
export function startCopy(): void {
  const spoken = document.createElement('p');
  spoken.className = 'visually-hidden';
  spoken.role = 'status';
  document.body.append(spoken);
  const timers = new WeakMap<Element, ReturnType<typeof setTimeout>>();

  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('[data-copy]') : null;
    const code = button?.parentElement?.querySelector<HTMLElement>('pre code');
    if (!button || !code) return;
    const message = (await copy(code)) ? 'Copied' : 'Selected: copy it with the keyboard';
    button.textContent = message;
    button.dataset.copy = 'done';
    spoken.textContent = message;
    clearTimeout(timers.get(button));
    const reset = () => {
      button.textContent = 'Copy';
      button.dataset.copy = '';
      spoken.textContent = '';
    };
    timers.set(button, setTimeout(reset, confirmationMs));
  });
}
