/** Bytes of base64url text, or null when it is not what those bytes are written as: text that was altered is not the same. */
export function decodeBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
