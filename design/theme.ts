/**
 * The theme of a page: the system's until the reader chooses another one. Choosing the system's theme removes the stored
 * choice, so the page follows the system again. The site and the console share the choice; a script in the head of their pages
 * shows it before the first paint.
 */
const STORAGE_KEY = 'theme';
const systemIsDark = () => matchMedia('(prefers-color-scheme: dark)');

/** Returns true while the page is dark. */
export function isDarkTheme(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === 'dark' : systemIsDark().matches;
}

/** Switches between light and dark, and stores the choice. */
export function toggleTheme(): void {
  const dark = !isDarkTheme();
  const theme = dark === systemIsDark().matches ? null : dark ? 'dark' : 'light';
  applyTheme(theme);
  try {
    if (theme === null) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, theme);
  } catch {
    // Storage may be forbidden; then the choice lasts as long as the page.
  }
}

/** Calls back when the system or another page of this server changes the theme; the returned function ends that. */
export function onThemeChange(callback: () => void): () => void {
  const system = systemIsDark();
  const onStorage = ({ key, newValue }: StorageEvent) => {
    if (key !== STORAGE_KEY) return;
    applyTheme(newValue);
    callback();
  };
  system.addEventListener('change', callback);
  addEventListener('storage', onStorage);
  return () => {
    system.removeEventListener('change', callback);
    removeEventListener('storage', onStorage);
  };
}

function applyTheme(theme: string | null): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}
