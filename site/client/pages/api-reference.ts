/** Adds to pages of the API reference a button that unfolds everything, and links to each field and response. */
import { formatAnchorHref } from '@switchyard/explorer/model/schema/anchor-href.ts';

/** Starts both. */
export function startApiReference(): void {
  addExpandAll();
  addLinksOnUnfold();
}

function addExpandAll(): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Expand all';
  let open = false;
  button.addEventListener('click', () => {
    open = !open;
    for (const details of document.querySelectorAll<HTMLDetailsElement>('.api details')) details.open = open;
    button.textContent = open ? 'Collapse all' : 'Expand all';
  });
  document.querySelector('.page-actions')?.append(button);
}

/**
 * Makes fields and responses links when their operation is unfolded. In the page they have no address, because the
 * addresses, which repeat the anchors, were a tenth of its bytes.
 */
function addLinksOnUnfold(): void {
  for (const details of document.querySelectorAll('.api-details[open]')) addLinks(details);
  const onToggle = ({ target }: Event) => {
    if (target instanceof Element && target.matches('.api-details')) addLinks(target);
  };
  document.addEventListener('toggle', onToggle, { capture: true });
}

function addLinks(details: Element): void {
  const links = details.querySelectorAll<HTMLAnchorElement>(':is(.api-name, .api-self):not([href])');
  for (const link of links) {
    const place = link.closest('.api-field, .api-response');
    if (place) link.href = formatAnchorHref(place.id);
  }
}
