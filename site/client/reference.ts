/** What pages of the reference of the API can do more: unfold everything at once, and name this server in the samples. */

/** What the samples are built with; see build/markup/swagger.ts. */
const builtWith = 'http://127.0.0.1:8080';

export function startReference(): void {
  addExpandAll();
  if (location.origin !== builtWith) nameThisServer();
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

/** A reader who has the page from a server wants to call that server. Nothing is sent; only the words change. */
function nameThisServer(): void {
  for (const code of document.querySelectorAll('.api pre code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      text.nodeValue = text.nodeValue?.replaceAll(builtWith, location.origin) ?? null;
    }
  }
}
