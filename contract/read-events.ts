/** Reads server-sent events (WHATWG HTML, "Server-sent events") from the body of a response, in Node and in browsers. */

/** An event as it arrived. The data is text, which the operations of this API write as JSON. */
export interface ReceivedEvent {
  /** The last id so far: send it as `Last-Event-ID` to continue after this event. */
  id: string;
  event: string;
  data: string;
}

/** Yields the events of a stream until it ends. An incomplete event at the end is dropped. Throws the error of the stream. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ReceivedEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let id = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      // The server separates events by an empty line, and its lines by a line feed.
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = parseFields(block);
        id = fields.get('id') ?? id;
        const event = fields.get('event');
        if (event !== undefined) yield { id, event, data: fields.get('data') ?? '' };
      }
    }
  } finally {
    // Ends the request when the caller stops reading.
    await reader.cancel().catch(() => {});
  }
}

/** Returns the fields of an event by their name. Comments and lines without a colon have none. */
function parseFields(block: string): Map<string, string> {
  return new Map(
    block.split('\n').flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]] : [];
    }),
  );
}
