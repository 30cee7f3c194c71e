/** Finds injections in a page. The function runs in the browser. */

/** Returns the marks of injections in the document: handlers, scripts, frames with rights, and text that reorders. */
export function findInjections(): string[] {
  const found: string[] = [];
  if (document.title === 'hacked') found.push('The title of the page was changed.');
  // The head of index.html has one, which chooses the theme.
  const own = document.head.querySelector('script:not([src])');
  for (const element of document.querySelectorAll('*')) {
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) found.push(`<${element.tagName} ${name}>`);
      if (/^(?:href|src|action)$/.test(name) && /^\s*(?:javascript|data:text)/i.test(value))
        found.push(`<${element.tagName} ${name}=${value}>`);
    }
    if (element.tagName === 'SCRIPT' && !element.hasAttribute('src') && element !== own)
      found.push('A script without an address.');
    if (element.tagName === 'IFRAME' && element.getAttribute('sandbox') !== 'allow-scripts')
      found.push('A frame with rights.');
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const parent = node.parentElement;
    if (
      !parent ||
      parent.tagName === 'TEXTAREA' ||
      !/[\u202a-\u202e\u2066-\u2069]/.test(node.textContent ?? '')
    )
      continue;
    // An element that isolates its text and has no other contains what the text does.
    const isIsolated = getComputedStyle(parent).unicodeBidi.startsWith('isolate');
    if (!isIsolated || parent.textContent !== node.textContent)
      found.push(`Text that reorders: ${parent.outerHTML.slice(0, 200)}`);
  }
  return found;
}
