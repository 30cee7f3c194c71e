/**
 * The search box before its first use. The slash key focuses it, as do Ctrl or Command and K, and Escape clears it. The
 * first focus loads the code of the combobox. Until then, or if that fails, Enter loads a page of results.
 */
export function startLazySearch(): void {
  const form = document.querySelector<HTMLFormElement>('[data-search-form]');
  const input = form?.querySelector('input');
  if (!form || !input) return;

  let isLoading = false;
  const load = async () => {
    if (isLoading) return;
    isLoading = true;
    try {
      const { startSearchCombobox } = await import('./search-combobox.ts');
      startSearchCombobox(form, input);
    } catch {
      isLoading = false;
    }
  };
  input.addEventListener('focus', load);
  if (document.activeElement === input) void load();

  document.addEventListener('keydown', (event) => {
    if (event.key !== (event.ctrlKey || event.metaKey ? 'k' : '/') || event.altKey || event.isComposing)
      return;
    if (isEditable(event.target) || document.querySelector('dialog[open]')) return;
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

/** In a text field a slash is text, and Ctrl and K may cut the rest of the line. */
function isEditable(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select');
}
