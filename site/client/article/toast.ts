/** A message at the lower edge of the window, spoken too, that goes after three seconds; the next one takes its place. */
import './toast.css';

const shownMs = 3000;
let toast: HTMLElement | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

export function showToast(message: string): void {
  if (!toast) {
    toast = document.createElement('p');
    toast.className = 'toast';
    toast.role = 'status';
    document.body.append(toast);
  }
  const place = toast;
  clearTimeout(timer);
  // Only a change of what is already in the document is spoken.
  requestAnimationFrame(() => {
    place.textContent = message;
    timer = setTimeout(() => {
      place.textContent = '';
    }, shownMs);
  });
}
