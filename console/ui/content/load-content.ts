/** Loads the content of a run or asset, and stops at a size that a browser can show. */

/** A JSON value of this size takes a browser half a second to parse and ten times the memory. */
const CONTENT_BYTES_MAX = 20_000_000;
/** This much of a larger content is shown as text. */
const EXCERPT_BYTES = 1_000_000;

/** A content that was loaded, or the part of it that a browser can show. */
export type LoadedContent =
  | { kind: 'json'; value: unknown; text: string; bytes: number }
  | { kind: 'text'; text: string; bytes: number }
  | { kind: 'excerpt'; text: string; bytes: number | undefined }
  | { kind: 'archive'; bytes: number | undefined };

/** Loads a content from a download URL. Throws when the server refuses or cannot be reached. */
export async function loadContent(url: string, signal: AbortSignal): Promise<LoadedContent> {
  const response = await fetch(url, { signal });
  if (!response.ok)
    throw new Error(`The content cannot be loaded: the server responded with ${response.status}.`);
  const declared = Number(response.headers.get('content-length')) || undefined;
  const type = response.headers.get('content-type') ?? '';
  const { chunks, isComplete, bytes } = await readChunks(response);
  if (isArchive(type, chunks[0])) return { kind: 'archive', bytes: isComplete ? bytes : declared };
  const content = new Blob(chunks);
  if (!isComplete)
    return { kind: 'excerpt', text: await content.slice(0, EXCERPT_BYTES).text(), bytes: declared };
  return parseContent(await content.text(), bytes);
}

async function readChunks(response: Response) {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    chunks.push(part.value);
    bytes += part.value.length;
    if (bytes > CONTENT_BYTES_MAX) {
      await reader?.cancel();
      return { chunks, bytes, isComplete: false };
    }
  }
  return { chunks, bytes, isComplete: true };
}

function isArchive(type: string, first: Uint8Array | undefined): boolean {
  if (/gzip|zip|tar|octet-stream/.test(type)) return true;
  return first?.[0] === 0x1f && first[1] === 0x8b;
}

/** Returns text as JSON where it is JSON. */
function parseContent(text: string, bytes: number): LoadedContent {
  try {
    const value: unknown = JSON.parse(text);
    return { kind: 'json', value, text: text.includes('\n') ? text : indent(value, text), bytes };
  } catch {
    return { kind: 'text', text, bytes };
  }
}

/** Returns the text with line breaks and indents, or as it came if the value nests too deeply for that. */
function indent(value: unknown, text: string): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}

/** Returns a value that the page already holds as a loaded content. */
export function wrapValue(value: unknown): LoadedContent {
  const text = indent(value, '');
  return { kind: 'json', value, text, bytes: text.length };
}
