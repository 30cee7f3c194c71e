/**
 * The navigation as a drawer in narrow windows. There is one navigation in the document; it moves into the dialog
 * while the drawer is open and back when it closes, so its state is never kept twice.
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
  // A link knows only Enter; what says it is a button is pressed by the space bar too.
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
  // Only the backdrop is the dialog itself; everything inside covers it.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => sidebar.prepend(navigation));
  matchMedia('(min-width: 60rem)').addEventListener('change', ({ matches }) => {
    if (matches) dialog.close();
  });
  // A page that the reader comes back to is not covered by what they left it through.
  addEventListener('pagehide', () => dialog.close());
}
