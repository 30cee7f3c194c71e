/**
 * The navigation as a drawer in narrow windows. The document has one navigation: it moves into the dialog when the drawer
 * opens and back when it closes, so its state exists once.
 */
import './drawer.css';

/** Opens the drawer. */
export function openDrawer(): void {
  const navigation = document.querySelector('#site-navigation nav');
  if (!navigation) return;
  const dialog = document.querySelector<HTMLDialogElement>('.drawer') ?? createDialog(navigation);
  dialog.lastElementChild?.append(navigation);
  dialog.showModal();
  navigation.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'center' });
}

function createDialog(navigation: Element): HTMLDialogElement {
  const created = document.createElement('dialog');
  created.className = 'drawer';
  created.ariaLabel = 'Documentation';
  const close = document.createElement('button');
  close.type = 'button';
  close.className = 'drawer-close';
  close.textContent = 'Close';
  created.append(close, document.createElement('div'));
  document.body.append(created);
  close.addEventListener('click', () => created.close());
  // A click has the dialog itself as its target only on the backdrop.
  created.addEventListener('click', ({ target }) => {
    if (target === created) created.close();
  });
  created.addEventListener('close', () => document.getElementById('site-navigation')?.prepend(navigation));
  matchMedia('(min-width: 60rem)').addEventListener('change', ({ matches }) => {
    if (matches) created.close();
  });
  // The browser may restore this page from its cache; then the drawer must not cover it.
  addEventListener('pagehide', () => created.close());
  return created;
}
