import { writeStorage } from '../storage.ts';

/** The sidebar in wide windows: hidden and shown by its buttons, remembered, and scrolled to the current page. */
export function startSidebar(): void {
  const root = document.documentElement;
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('[data-toggle-sidebar]')];
  const sidebar = document.getElementById('site-navigation');
  const current = sidebar?.querySelector<HTMLElement>('[aria-current=page]');
  // Where the sidebar is not shown, asking for its place would only lay out the page before its time.
  if (sidebar && current && matchMedia('(width >= 60rem)').matches) {
    sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2;
  }
  for (const button of buttons) {
    button.addEventListener('click', () => {
      const collapsed = root.dataset.sidebar !== 'collapsed';
      if (collapsed) root.dataset.sidebar = 'collapsed';
      else delete root.dataset.sidebar;
      writeStorage('sidebar', root.dataset.sidebar);
      // The pressed button has just disappeared; its counterpart takes the focus.
      buttons.find((other) => other !== button)?.focus();
    });
  }
}
