/** Formats a link to an anchor of the page. Browsers undo the escapes, so the anchor itself stays readable. */
export function formatAnchorHref(id: string): string {
  return `#${id.replace(/[^\p{L}\p{N}\-._~!$'()*+,;=:@[\]]/gu, encodeURIComponent)}`;
}
