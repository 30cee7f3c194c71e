/**
 * Decodes base64url text; returns null unless the text is the one encoding of its bytes. Buffer ignores padding, foreign
 * characters and unused bits, so without the comparison an altered signature or token would still be accepted.
 */
export function decodeBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
