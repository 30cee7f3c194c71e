/** Remembers small choices of the reader. Where storage is forbidden a choice lasts as long as the page. */
export function writeStorage(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Nothing to do: the choice has already been applied to this page.
  }
}

/** What was remembered, or null where nothing was or storage is forbidden. */
export function readStorage(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
