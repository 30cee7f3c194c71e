/**
 * Reads the response with a log while it arrives, so that its first lines are visible before its last have been sent: a
 * million lines are 38 MB. Pure.
 */
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';

/** Enough for the first screen. */
const FIRST_PART_CHARS = 64 * 1024;
/** Takes 3 ms to parse: short enough for a frame. */
const PART_CHARS = 1024 * 1024;
const PREFIX = '{"log":"';
const LINE_BREAK = '\\n';

/**
 * Yields the text of the log in parts that end with a line break, except perhaps the last. The body is `{"log": "…"}`.
 * Throws a SyntaxError for a body that is no JSON, and the error of the stream.
 */
export async function* readLogParts(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let json = '';
  let charsMin = FIRST_PART_CHARS;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      json += decoder.decode(read.value, { stream: true });
      // Another form of JSON, which the server does not write, is parsed as a whole.
      if (json.length < charsMin || !json.startsWith(PREFIX)) continue;
      const end = findLastLineEnd(json);
      // The length doubles, so that a line of any length is searched through only twice.
      charsMin = end === 0 ? 2 * json.length : PART_CHARS;
      if (end === 0) continue;
      yield parseLog(`${json.slice(0, end)}"}`);
      json = PREFIX + json.slice(end);
    }
    yield parseLog(json);
  } finally {
    // Ends the request when the caller stops reading.
    await reader.cancel().catch(() => {});
  }
}

function parseLog(json: string): string {
  const body: unknown = JSON.parse(json);
  return isRecord(body) ? String(body.log) : '';
}

/** Returns the position after the last escaped line break in a string of JSON; 0 without one. */
function findLastLineEnd(json: string): number {
  for (let at = json.lastIndexOf(LINE_BREAK); at > 0; at = json.lastIndexOf(LINE_BREAK, at - 1)) {
    let begin = at;
    while (json[begin - 1] === '\\') begin -= 1;
    // After an odd number of backslashes, this one is escaped itself.
    if ((at - begin) % 2 === 0) return at + LINE_BREAK.length;
  }
  return 0;
}
