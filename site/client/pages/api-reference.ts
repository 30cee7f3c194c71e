/** What pages of the reference of the API can do more: unfold everything at once, and link to each field and answer. */
import { formatAnchorHref } from '@switchyard/explorer/model/schema/anchor-href.ts';

export function startApiReference(): void {
  addExpandAll();
  linkWhatUnfolds();
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
 * Fields and answers are no links in the page: their addresses, each once more beside its anchor, were a tenth of its
 * bytes. They become links when their operation is unfolded.
 */
function linkWhatUnfolds(): void {
  for (const details of document.querySelectorAll('.api-details[open]')) linkAllIn(details);
  const onToggle = ({ target }: Event) => {
    if (target instanceof Element && target.matches('.api-details')) linkAllIn(target);
  };
  document.addEventListener('toggle', onToggle, { capture: true });
}

function linkAllIn(details: Element): void {
  const links = details.querySelectorAll<HTMLAnchorElement>(':is(.api-name, .api-self):not([href])');
  for (const link of links) {
    const place = link.closest('.api-field, .api-response');
    if (place) link.href = formatAnchorHref(place.id);
  }
}
