import { copyText } from './clipboard.ts';
import { replaceServerAddress } from './server-address.ts';

const confirmationMs = 3000;

/** A code block, or the whole page as the Markdown that its head names. */
async function copyFor(button: HTMLElement): Promise<string | undefined> {
  if (button.dataset.copyPage !== undefined) {
    const source = document.querySelector<HTMLLinkElement>('link[type="text/markdown"]');
    if (!source) return undefined;
    const done = await copyText(fetch(source.href).then(textOf).then(replaceServerAddress));
    return done ? 'Copied' : 'Not copied';
  }
  const code = button.parentElement?.querySelector<HTMLElement>('pre code');
  if (!code) return undefined;
  if (await copyText(code.textContent)) return 'Copied';
  getSelection()?.selectAllChildren(code);
  return 'Selected: copy it with the keyboard';
}

async function textOf(response: Response): Promise<string> {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}.`);
  return response.text();
}

/** Copy buttons: a confirmation stands in the button, and is spoken, for three seconds. */
export function startCopyButtons(): void {
  const spoken = document.createElement('p');
  spoken.className = 'visually-hidden';
  spoken.role = 'status';
  document.body.append(spoken);
  const labels = new WeakMap<Element, string>();
  const timers = new WeakMap<Element, ReturnType<typeof setTimeout>>();

  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('[data-copy]') : null;
    if (!button) return;
    const label = labels.get(button) ?? button.textContent;
    labels.set(button, label);
    const message = await copyFor(button);
    if (message === undefined) return;
    button.textContent = message;
    button.dataset.copy = 'done';
    spoken.textContent = message;
    clearTimeout(timers.get(button));
    const reset = () => {
      button.textContent = label;
      button.dataset.copy = '';
      spoken.textContent = '';
    };
    timers.set(button, setTimeout(reset, confirmationMs));
  });
}
