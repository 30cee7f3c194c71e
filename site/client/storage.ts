/** Stores a small choice of the reader; undefined removes it. If the browser forbids storage, it lasts as long as the page. */
export function writeStorage(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The choice is already applied to this page.
  }
}

/** Returns the stored value; null when there is none or the browser forbids storage. */
export function readStorage(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
