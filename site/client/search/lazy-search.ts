/**
 * The search box before anybody uses it: the slash key leads to it, as do Ctrl or Command and K, which other sites have
 * taught. Escape clears it, and its code is fetched when it is first focused. Until then, and where that fails, Enter asks the server for a page of results.
 */
export function startLazySearch(): void {
  const form = document.querySelector<HTMLFormElement>('[data-search-form]');
  const input = form?.querySelector('input');
  if (!form || !input) return;

  let asked = false;
  const load = async () => {
    if (asked) return;
    asked = true;
    try {
      const { startSearchCombobox: startSearch } = await import('./search-combobox.ts');
      startSearch(form, input);
    } catch {
      asked = false;
    }
  };
  input.addEventListener('focus', load);
  if (document.activeElement === input) void load();

  document.addEventListener('keydown', (event) => {
    if (event.key !== (event.ctrlKey || event.metaKey ? 'k' : '/') || event.altKey || event.isComposing)
      return;
    if (takesText(event.target) || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    if (input.value === '') return input.blur();
    input.value = '';
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

/** Where a slash is a character of somebody's text, and Ctrl and K may cut the rest of a line. */
function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select');
}
