/** Marks the current heading in the contents list beside the text while the reader scrolls. */
export function startScrollSpy(): void {
  const list = document.querySelector('[data-follow-headings]');
  const links = [...(list?.querySelectorAll<HTMLAnchorElement>('a') ?? [])];
  const headings = links.flatMap(
    (link) => document.getElementById(decodeURIComponent(link.hash.slice(1))) ?? [],
  );
  if (headings.length === 0) return;

  const mark = () => {
    // A page that fits into the window is at its end without being scrolled.
    const atEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
    const current = atEnd ? headings.length - 1 : passed;
    links.forEach((link, index) => {
      if (index === current) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
    });
  };
  let waiting = false;
  addEventListener(
    'scroll',
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}
