/**
 * The result page as one file. The browser serialises the elements of the page, so names from apps stay text.
 */
import {
  formatReportDocument,
  formatReportFooter,
} from '@switchyard/contract/experiments/presentation/report-document.ts';
import { copyPicture } from '../../../ui/figures/export-figure.ts';

/** Controls, which work only on the page. */
const PAGE_ONLY = '[data-page-only], button, select, input, progress, .visually-hidden';

/** Returns the HTML of the report of a result page. `address` is that of the page. */
export function formatReport(page: Element, { title, address }: { title: string; address: string }): string {
  const copy = document.importNode(page, true);
  // Pictures are copied from the page, where they have their styles.
  const pictures = [...page.querySelectorAll('svg[viewBox]')];
  for (const [index, target] of [...copy.querySelectorAll('svg[viewBox]')].entries()) {
    const picture = pictures[index];
    if (picture instanceof SVGSVGElement) target.replaceWith(copyPicture(picture));
  }
  for (const element of copy.querySelectorAll(PAGE_ONLY)) element.remove();
  // A time from now means nothing in a file.
  for (const time of copy.querySelectorAll('time')) time.textContent = time.dateTime;
  for (const element of [copy, ...copy.querySelectorAll('*')]) cleanElement(element);
  return formatReportDocument(title, copy.outerHTML + formatReportFooter(address, new Date()));
}

const REPORT_ATTRIBUTES = /^(href|aria-label|role|scope|colspan|open|datetime|title|viewBox|lang)$/;

/** Removes what only the page needs. Links lead to the server by their whole address, and to no other protocol. */
function cleanElement(element: Element): void {
  if (element instanceof SVGElement) return;
  for (const name of element.getAttributeNames())
    if (!REPORT_ATTRIBUTES.test(name)) element.removeAttribute(name);
  const href = element.getAttribute('href');
  if (href === null) return;
  const url = URL.parse(href, location.href);
  if (url && /^https?:$/.test(url.protocol)) element.setAttribute('href', url.href);
  else element.removeAttribute('href');
}
