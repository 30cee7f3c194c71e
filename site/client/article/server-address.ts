import { replaceAddressInCode } from '@switchyard/contract/site/site-address.ts';

/** Returns the server address in the code of the page; undefined when it is the address the browser uses. */
function findBuildAddress(): string | undefined {
  const { server } = document.body.dataset;
  if (server === undefined || !location.protocol.startsWith('http')) return undefined;
  return new URL(server).origin === location.origin ? undefined : server;
}

/** Replaces the address in code blocks by that of the server the page came from, so that copied commands call it. */
export function startServerAddress(): void {
  const address = findBuildAddress();
  if (address === undefined) return;
  for (const code of document.querySelectorAll('pre code')) {
    if (!code.textContent.includes(address)) continue;
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      text.nodeValue = text.nodeValue?.replaceAll(address, location.origin) ?? null;
    }
  }
}

/** Returns the Markdown of the page with the address replaced in its code. */
export function replaceServerAddress(markdown: string): string {
  const address = findBuildAddress();
  return address === undefined ? markdown : replaceAddressInCode(markdown, address, location.origin);
}
