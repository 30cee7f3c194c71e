/**
 * The address with which the documentation is built: the default of `npm start`. When a page has another address, its
 * code samples show that one. The server inserts its public address; a script inserts the address in the browser. Only
 * whole addresses in code change: prose about the default, and `127.0.0.1:8080` in the settings of a proxy, stay.
 */
export const BUILD_ADDRESS = 'http://127.0.0.1:8080';

/** Matches code blocks of Markdown, also in lists and quotations. */
const FENCED = /^([> ]*)```.*?^\1```/gms;

/** Returns the Markdown with the address replaced in its code blocks. */
export function replaceAddressInCode(markdown: string, from: string, to: string): string {
  return markdown.replace(FENCED, (block) => block.replaceAll(from, () => to));
}
