/** The smallest label of a picture, in pixels of the screen. */
export const MIN_LABEL_SIZE_PX = 11;

/** Runs in the page: lists code that is cut although there is space for it, and small or cut labels of pictures. */
export function findIllegibleText(least: number): string[] {
  const findVisible = <T extends Element>(selector: string) =>
    [...document.querySelectorAll<T>(selector)].filter((one) => one.checkVisibility());
  const articleWidth = document.querySelector('.docs .article')?.clientWidth ?? 0;
  const cut = findVisible<HTMLElement>('.article > .code > pre, .article > .tabs .code > pre').filter(
    (code) => code.scrollWidth > code.clientWidth && code.offsetWidth + 2 < articleWidth,
  );
  const labels = findVisible<SVGTextElement>('.picture text').filter((label) => {
    const size = Number.parseFloat(getComputedStyle(label).fontSize) * (label.getScreenCTM()?.a ?? 0);
    const [own, picture] = [label, label.closest('.picture')].map((one) => one?.getBoundingClientRect());
    const isWhole = own && picture && own.left >= picture.left && own.right <= picture.right;
    return size < least || !isWhole;
  });
  return [...cut, ...labels].map((one) => `${one.tagName}: ${one.textContent.slice(0, 30)}`);
}
