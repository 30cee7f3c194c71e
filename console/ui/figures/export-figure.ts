/**
 * Pictures as files. A file has no style sheet, so the computed styles become attributes of the elements. They are those
 * of the light theme, because files are printed and pasted into documents.
 */
import styles from './figure.module.css';

const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'opacity',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
] as const;
/** These belong to the page, and mean nothing in a file. */
const PAGE_ATTRIBUTES = ['class', 'tabindex', 'data-status', 'aria-current', 'data-transitioning'];
/** A picture in a document is scaled down less than a screen. */
const PNG_SCALE = 2;

/** Returns a copy of the picture that looks the same without the page. Its links have absolute addresses. */
export function copyPicture(picture: SVGSVGElement): SVGSVGElement {
  const copy = document.importNode(picture, true);
  const stage = document.createElement('div');
  stage.className = styles.stage ?? '';
  stage.append(copy);
  document.body.append(stage);
  const paper = getComputedStyle(stage).backgroundColor;
  const elements = [copy, ...copy.querySelectorAll('*')];
  // All styles are read before the first class is removed.
  const looks = elements.map((element) => {
    const computed = getComputedStyle(element);
    return STYLES.map((name) => [name, computed.getPropertyValue(name)] as const);
  });
  for (const [index, element] of elements.entries()) {
    for (const [name, value] of looks[index] ?? []) if (value !== '') element.setAttribute(name, value);
    for (const name of PAGE_ATTRIBUTES) element.removeAttribute(name);
    const href = element.getAttribute('href');
    if (href !== null) element.setAttribute('href', new URL(href, location.href).href);
  }
  stage.remove();
  const background = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  background.setAttribute('width', '100%');
  background.setAttribute('height', '100%');
  background.setAttribute('fill', paper);
  copy.prepend(background);
  return copy;
}

/** Returns the picture as the text of an SVG file. */
export function formatSvg(picture: SVGSVGElement): string {
  return new XMLSerializer().serializeToString(copyPicture(picture));
}

/** Draws the picture at twice its size. Throws if the browser cannot draw it. */
export async function renderPng(picture: SVGSVGElement): Promise<Blob> {
  const { width, height } = picture.viewBox.baseVal;
  const url = URL.createObjectURL(new Blob([formatSvg(picture)], { type: 'image/svg+xml' }));
  try {
    const image = new Image(width * PNG_SCALE, height * PNG_SCALE);
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * PNG_SCALE;
    canvas.height = height * PNG_SCALE;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (png === null) throw new Error('The browser cannot draw this picture. Download it as SVG.');
    return png;
  } finally {
    URL.revokeObjectURL(url);
  }
}
