/** A link to an anchor of the page. What is no letter, digit or plain mark is escaped; browsers undo that. */
export function formatAnchorHref(id: string): string {
  return `#${id.replace(/[^\p{L}\p{N}\-._~!$'()*+,;=:@[\]]/gu, encodeURIComponent)}`;
}
