import './banner.css';
import type { Banner } from '@switchyard/contract/site/banner.ts';

/** Renders the announcement into its place, with a button that hides it and calls `onDismiss`. */
export function showBanner(place: HTMLElement, banner: Banner, onDismiss: () => void): void {
  const description = document.createElement('span');
  description.textContent = banner.description;
  const link = document.createElement('a');
  link.href = banner.url;
  link.title = banner.urlAttributeTitle;
  link.textContent = banner.actionLabel;
  const dismiss = document.createElement('button');
  dismiss.type = 'button';
  dismiss.ariaLabel = 'Hide this announcement';
  dismiss.textContent = '×';
  dismiss.addEventListener('click', () => {
    place.replaceChildren();
    place.removeAttribute('role');
    place.removeAttribute('aria-label');
    onDismiss();
  });
  place.role = 'region';
  place.ariaLabel = 'Announcement';
  place.replaceChildren(description, link, dismiss);
}
