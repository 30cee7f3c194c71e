/** Unfolds the elements around the target of the address and scrolls to it; not every browser does so itself. */
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

/** A link to the current address fires no hashchange, but the reader may have folded its target again. */
function reopenTarget({ target }: MouseEvent): void {
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
  if (link && link.hash !== '' && link.href === location.href) openTarget();
}

/** Unfolds the target of the address now and after each click on a link to it. */
export function startOpenTarget(): void {
  addEventListener('hashchange', openTarget);
  addEventListener('click', reopenTarget);
  openTarget();
}
