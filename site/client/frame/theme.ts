import { writeStorage } from '../storage.ts';

/**
 * Starts the theme button. Until the reader chooses, the system's theme applies. Choosing the system's theme removes the
 * stored choice, so the page follows the system again.
 */
export function startTheme(): void {
  const root = document.documentElement;
  const button = document.querySelector<HTMLButtonElement>('[data-toggle-theme]');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const show = () => button?.setAttribute('aria-pressed', String(isDark()));

  button?.addEventListener('click', () => {
    const dark = !isDark();
    if (dark === system.matches) delete root.dataset.theme;
    else root.dataset.theme = dark ? 'dark' : 'light';
    writeStorage('theme', root.dataset.theme);
    show();
  });
  system.addEventListener('change', show);
  addEventListener('storage', ({ key, newValue }) => {
    if (key !== 'theme') return;
    if (newValue === 'light' || newValue === 'dark') root.dataset.theme = newValue;
    else delete root.dataset.theme;
    show();
  });
  show();
}
