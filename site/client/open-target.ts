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

export function startOpenTarget(): void {
  addEventListener('hashchange', openTarget);
  openTarget();
}
