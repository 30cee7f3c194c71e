import { writeStorage } from '../storage.ts';

/** Starts the sidebar of wide windows: its buttons hide and show it, and it scrolls to the current page. */
export function startSidebar(): void {
  const root = document.documentElement;
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('[data-toggle-sidebar]')];
  const sidebar = document.getElementById('site-navigation');
  const current = sidebar?.querySelector<HTMLElement>('[aria-current=page]');
  // In narrow windows reading offsetTop would force an early layout for a sidebar that is not displayed.
  if (sidebar && current && matchMedia('(width >= 60rem)').matches) {
    sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2;
  }
  for (const button of buttons) {
    button.addEventListener('click', () => {
      const collapsed = root.dataset.sidebar !== 'collapsed';
      if (collapsed) root.dataset.sidebar = 'collapsed';
      else delete root.dataset.sidebar;
      writeStorage('sidebar', root.dataset.sidebar);
      // The pressed button has just disappeared, so its counterpart gets the focus.
      buttons.find((other) => other !== button)?.focus();
    });
  }
}
