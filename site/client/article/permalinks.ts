import { copyText } from './clipboard.ts';

/** A permalink leads to its heading, as every link does, and also copies the address, which is what most want of it. */
export function startPermalinks(): void {
  document.addEventListener('click', async ({ target, ctrlKey, metaKey, shiftKey }) => {
    const link =
      target instanceof Element
        ? target.closest<HTMLAnchorElement>('a.permalink, a.api-permalink, a.api-self')
        : null;
    if (!link || ctrlKey || metaKey || shiftKey) return;
    if (!(await copyText(link.href))) return;
    const { showToast } = await import('./toast.ts');
    showToast('Link copied');
  });
}
