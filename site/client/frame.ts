/** The scripts of the frame: the theme button, the navigation, and the mark of the current heading. */
import { isDarkTheme, onThemeChange, toggleTheme } from '@switchyard/design/theme.ts';
import { writeStorage } from './storage.ts';

/** Makes the menu link of narrow windows open the navigation as a drawer, whose script and style come with the first press. */
export function startDrawer(): void {
  const opener = document.querySelector<HTMLAnchorElement>('[data-open-drawer]');
  if (!opener) return;
  opener.role = 'button';
  opener.setAttribute('aria-haspopup', 'dialog');
  // A link reacts to Enter alone; an element with the role button must also react to the space bar.
  opener.addEventListener('keydown', (event) => {
    if (event.key !== ' ') return;
    event.preventDefault();
    opener.click();
  });
  opener.addEventListener('click', async (event) => {
    event.preventDefault();
    const { openDrawer } = await import('./drawer/drawer.ts');
    openDrawer();
  });
}

/** Starts the theme button. */
export function startTheme(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-toggle-theme]');
  const show = () => button?.setAttribute('aria-pressed', String(isDarkTheme()));
  button?.addEventListener('click', () => {
    toggleTheme();
    show();
  });
  onThemeChange(show);
  show();
}

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

/** Marks the current heading in the contents list beside the text while the reader scrolls. */
export function startScrollSpy(): void {
  const list = document.querySelector('[data-follow-headings]');
  const links = [...(list?.querySelectorAll<HTMLAnchorElement>('a') ?? [])];
  const headings = links.flatMap(
    (link) => document.getElementById(decodeURIComponent(link.hash.slice(1))) ?? [],
  );
  if (headings.length === 0) return;

  const mark = () => {
    // A page that fits into the window is at its end without being scrolled.
    const atEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
    const current = atEnd ? headings.length - 1 : passed;
    links.forEach((link, index) => {
      if (index === current) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
    });
  };
  let waiting = false;
  addEventListener(
    'scroll',
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}
