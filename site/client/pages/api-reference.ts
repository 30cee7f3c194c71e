/**
 * Adds to pages of the API reference a button that unfolds everything, and links to each field and response. A field and its
 * lines of the request are tinted together.
 */
import { formatAnchorHref } from '@switchyard/explorer/model/schema/anchor-href.ts';
import { findLines } from '@switchyard/explorer/model/values/find-lines.ts';

/** Starts all three. */
export function startApiReference(): void {
  addExpandAll();
  addLinks();
  startTint();
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
 * Makes the name of each field a link to it, and adds one to each response. They are no part of the page, because the
 * addresses, which repeat the anchors, were a tenth of its bytes.
 */
function addLinks(): void {
  for (const field of document.querySelectorAll('.api-field')) {
    const name = field.querySelector('.api-line > :first-child');
    const link = createLink(field);
    name?.replaceWith(link);
    link.append(name ?? '');
  }
  for (const response of document.querySelectorAll('.api-response')) {
    const link = createLink(response);
    link.className = 'api-fact';
    link.textContent = 'Link to this response';
    response.querySelector('summary')?.after(link);
  }
}

function createLink({ id }: Element): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = formatAnchorHref(id);
  return link;
}

/** Tints the field under the pointer or with the focus, at first that of the address, and its lines of the request. */
function startTint(): void {
  let shown: Element | null = null;
  const show = ({ target }: { target: unknown }) => {
    const field = target instanceof Element ? target.closest('.api-field') : null;
    if (field === shown) return;
    shown?.classList.remove('is-shown');
    if (shown) tintLines(shown, false);
    shown = field;
    field?.classList.add('is-shown');
    if (field) tintLines(field, true);
  };
  addEventListener('pointerover', show);
  addEventListener('focusin', show);
  show({ target: document.querySelector(':target') });
}

/** Tints the lines of the request that belong to a field, or takes the tint away. */
function tintLines(field: Element, isTinted: boolean): void {
  const operation = field.closest('.api');
  const id = operation?.querySelector('h2, h3')?.id ?? '';
  for (const code of operation?.querySelectorAll<HTMLElement>('[data-tabs="api-language"] pre') ?? []) {
    const lines = findLines(code.textContent, field.id.slice(id.length + 1));
    code.style.background =
      lines && isTinted
        ? `linear-gradient(var(--ground) 0 0) no-repeat 0 calc(0.875rem + ${lines.from}lh) / 100% ${lines.count}lh`
        : '';
  }
}
