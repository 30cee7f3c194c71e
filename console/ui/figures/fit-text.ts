/** Fits names into pictures, where text neither wraps nor ends by itself. Pure. */

/** Upper bounds for the width of a character of 12 px: most, and those of Chinese, Japanese and Korean. */
const LETTER_PX = 7;
const WIDE_PX = 12.5;
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\u3000-\u303f\uff00-\uff60]/u;

/** Returns the text, cut to the width in pixels with an ellipsis in the place of what is missing. */
export function fitText(text: string, width: number): string {
  const measure = (character: string): number => (WIDE.test(character) ? WIDE_PX : LETTER_PX);
  const characters = [...text];
  let used = 0;
  const fits = characters.findIndex((character) => {
    used += measure(character);
    return used > width;
  });
  if (fits < 0) return text;
  let rest = width - LETTER_PX;
  const kept = characters.findIndex((character) => {
    rest -= measure(character);
    return rest < 0;
  });
  return `${characters.slice(0, Math.max(1, kept)).join('')}…`;
}
