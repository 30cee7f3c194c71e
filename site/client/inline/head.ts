/**
 * Runs in the head of every page, before anything is painted, so that neither theme nor sidebar flickers. It has no
 * imports: its text is inlined and listed by hash in csp.json.
 */
{
  const root = document.documentElement;
  root.classList.add('js');
  try {
    const theme = localStorage.getItem('theme');
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
    if (localStorage.getItem('sidebar') === 'collapsed') root.dataset.sidebar = 'collapsed';
  } catch {
    // Storage may be forbidden; then the system's theme and an open sidebar are right.
  }
}
