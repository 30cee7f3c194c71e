import { replaceAddressInCode } from '@switchyard/contract/site/site-address.ts';

/** The address in the code of the page as it came, where the browser knows another for the same server; else undefined. */
function otherAddress(): string | undefined {
  const { server } = document.body.dataset;
  if (server === undefined || !location.protocol.startsWith('http')) return undefined;
  return new URL(server).origin === location.origin ? undefined : server;
}

/** A reader who has the page from a server wants to call that server. Nothing is sent; only the words change. */
export function startServerAddress(): void {
  const address = otherAddress();
  if (address === undefined) return;
  for (const code of document.querySelectorAll('pre code')) {
    if (!code.textContent.includes(address)) continue;
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      text.nodeValue = text.nodeValue?.replaceAll(address, location.origin) ?? null;
    }
  }
}

/** The same for the Markdown of the page. */
export function replaceServerAddress(markdown: string): string {
  const address = otherAddress();
  return address === undefined ? markdown : replaceAddressInCode(markdown, address, location.origin);
}
