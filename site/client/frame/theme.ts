import { isDarkTheme, onThemeChange, toggleTheme } from '@switchyard/design/theme.ts';

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
