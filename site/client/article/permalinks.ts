import { copyText } from './clipboard.ts';

/** Makes permalinks also copy their address, because most readers click them for that. */
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
