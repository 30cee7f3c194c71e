/** A message at the lower edge of the window, announced by screen readers, that disappears after three seconds. */
import './toast.css';

const TOAST_MS = 3000;
let toast: HTMLElement | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows the message in place of the one before. */
export function showToast(message: string): void {
  if (!toast) {
    toast = document.createElement('p');
    toast.className = 'toast';
    toast.role = 'status';
    document.body.append(toast);
  }
  const place = toast;
  clearTimeout(timer);
  // Screen readers announce changes of an element that is already in the document, not a new element.
  requestAnimationFrame(() => {
    place.textContent = message;
    timer = setTimeout(() => {
      place.textContent = '';
    }, TOAST_MS);
  });
}
