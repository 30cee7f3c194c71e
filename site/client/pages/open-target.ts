/** Unfolds what a link of the page leads into, where the browser does not do that by itself, and goes there. */
function openTarget(): void {
  const target = document.querySelector(':target');
  if (!target) return;
  let opened = false;
  for (let at: Element | null = target; at; at = at.parentElement) {
    if (!(at instanceof HTMLDetailsElement) || at.open) continue;
    at.open = true;
    opened = true;
  }
  if (opened) target.scrollIntoView();
}

/** A link to where the page is already changes no address, yet what it leads into may have been folded again. */
function openAgain({ target }: MouseEvent): void {
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
  if (link && link.hash !== '' && link.href === location.href) openTarget();
}

export function startOpenTarget(): void {
  addEventListener('hashchange', openTarget);
  addEventListener('click', openAgain);
  openTarget();
}
