import { copyText } from './clipboard.ts';
import { replaceServerAddress } from './server-address.ts';

const CONFIRMATION_MS = 3000;

/**
 * Copies a code block, or the whole page as the Markdown that its head links to. Returns the text for the button;
 * undefined when there is nothing to copy.
 */
async function copySource(button: HTMLElement): Promise<string | undefined> {
  if (button.dataset.copyPage !== undefined) {
    const source = document.querySelector<HTMLLinkElement>('link[type="text/markdown"]');
    if (!source) return undefined;
    const done = await copyText(fetch(source.href).then(readText).then(replaceServerAddress));
    return done ? 'Copied' : 'Not copied';
  }
  const code = button.parentElement?.querySelector<HTMLElement>('pre code');
  if (!code) return undefined;
  if (await copyText(code.textContent)) return 'Copied';
  getSelection()?.selectAllChildren(code);
  return 'Selected: copy it with the keyboard';
}

async function readText(response: Response): Promise<string> {
  if (!response.ok) throw new Error(`${response.url} returned ${response.status}.`);
  return response.text();
}

/** Starts the copy buttons. Each shows a confirmation for three seconds, which screen readers announce. */
export function startCopyButtons(): void {
  const announcement = document.createElement('p');
  announcement.className = 'visually-hidden';
  announcement.role = 'status';
  document.body.append(announcement);
  const labels = new WeakMap<Element, string>();
  const timers = new WeakMap<Element, ReturnType<typeof setTimeout>>();

  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('[data-copy]') : null;
    if (!button) return;
    const label = labels.get(button) ?? button.textContent;
    labels.set(button, label);
    const message = await copySource(button);
    if (message === undefined) return;
    button.textContent = message;
    button.dataset.copy = 'done';
    announcement.textContent = message;
    clearTimeout(timers.get(button));
    const reset = () => {
      button.textContent = label;
      button.dataset.copy = '';
      announcement.textContent = '';
    };
    timers.set(button, setTimeout(reset, CONFIRMATION_MS));
  });
}
