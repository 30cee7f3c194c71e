/**
 * The address that the documentation is built with: a server as `npm start` leaves it. Where a page came from another
 * address, its code shows that one: the server puts in its public address, a script the address the browser used. Only code
 * with the whole address changes, so that prose about the default, or `127.0.0.1:8080` in the settings of a proxy, stays.
 */
export const BUILD_ADDRESS = 'http://127.0.0.1:8080';

/** Code blocks of Markdown, in lists and quotations too. */
const FENCED = /^([> ]*)```.*?^\1```/gms;

/** The Markdown with another address in its code blocks. */
export function replaceAddressInCode(markdown: string, from: string, to: string): string {
  return markdown.replace(FENCED, (block) => block.replaceAll(from, () => to));
}
