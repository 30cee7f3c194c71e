/**
 * Shows the navigation as a drawer in narrow windows. The document has one navigation: it moves into the dialog when the
 * drawer opens and back when it closes, so its state exists once.
 */
export function startDrawer(): void {
  const opener = document.querySelector<HTMLAnchorElement>('[data-open-drawer]');
  const sidebar = document.getElementById('site-navigation');
  const navigation = sidebar?.querySelector('nav');
  if (!opener || !sidebar || !navigation) return;

  const dialog = document.createElement('dialog');
  dialog.className = 'drawer';
  dialog.ariaLabel = 'Documentation';
  const close = document.createElement('button');
  close.type = 'button';
  close.className = 'drawer-close';
  close.textContent = 'Close';
  const body = document.createElement('div');
  dialog.append(close, body);
  document.body.append(dialog);

  opener.role = 'button';
  opener.setAttribute('aria-haspopup', 'dialog');
  // A link reacts to Enter alone; an element with the role button must also react to the space bar.
  opener.addEventListener('keydown', (event) => {
    if (event.key !== ' ') return;
    event.preventDefault();
    opener.click();
  });
  opener.addEventListener('click', (event) => {
    event.preventDefault();
    body.append(navigation);
    dialog.showModal();
    navigation.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'center' });
  });
  close.addEventListener('click', () => dialog.close());
  // A click has the dialog itself as its target only on the backdrop.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => sidebar.prepend(navigation));
  matchMedia('(min-width: 60rem)').addEventListener('change', ({ matches }) => {
    if (matches) dialog.close();
  });
  // The browser may restore this page from its cache; then the drawer must not cover it.
  addEventListener('pagehide', () => dialog.close());
}
