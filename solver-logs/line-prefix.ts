/**
 * Removes what logging libraries, supervisors and terminals put before a line. The prefix of a log is learnt from the first
 * line in which a solver's banner stands behind other text, so that no list of libraries has to be complete.
 */

/** Begins a control sequence of a terminal. */
const CONTROL_SEQUENCE = '\u001b[';
const PREFIX_LIMIT_CHARACTERS = 200;
/** Prefixes that are remembered: those of a logger, and of a supervisor around it. */
const SHAPES_MAX = 4;
/** Fields in which loggers of JSON lines write the message, the usual first. */
const MESSAGE_FIELDS = ['message', 'msg', 'event', 'log', 'text'];

/** Returns the line without colours, and what stands after its last carriage return: a progress bar draws over itself. */
export function cleanLine(line: string): string {
  const visible = line.slice(line.trimEnd().lastIndexOf('\r') + 1);
  if (!visible.includes(CONTROL_SEQUENCE)) return visible;
  const [first = '', ...parts] = visible.split(CONTROL_SEQUENCE);
  return first + parts.map((part) => part.replace(/^[\d;]{0,20}m/, '')).join('');
}

/** Returns the message of a JSON log line; undefined for other objects. */
export function findMessage(value: Readonly<Record<string, unknown>>): string | undefined {
  const messages = MESSAGE_FIELDS.map((name) => value[name]);
  return messages.find((message) => typeof message === 'string');
}

/**
 * Returns an expression for prefixes of the same shape: words and numbers may differ, the punctuation between them may not.
 * Returns undefined for a text that is no prefix: it is too long, or runs into the banner.
 */
function learnShape(prefix: string): RegExp | undefined {
  if (prefix.length > PREFIX_LIMIT_CHARACTERS || /[\w.]$/.test(prefix)) return undefined;
  const parts = prefix.match(/[\p{L}\p{N}_.$]+|\s+|[^\p{L}\p{N}_.$\s]/gu) ?? [];
  const shapes = parts.map((part, index) => {
    if (/^\s/.test(part)) return index === parts.length - 1 ? '\\s?' : '\\s{1,40}';
    return /^[\p{L}\p{N}_.$]/u.test(part) ? '[\\p{L}\\p{N}_.$]{1,120}' : escapeCharacter(part);
  });
  const pattern = shapes.join('');
  return new RegExp(`^\\s{0,8}${pattern}`, 'u');
}

const escapeCharacter = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/, '\\$&');

/** The prefixes of one log. */
export class LinePrefixes {
  readonly #shapes: RegExp[] = [];
  readonly #banner: RegExp;

  /** `banner` matches, anywhere in a line, the texts that begin the log of a solver. */
  constructor(banner: RegExp) {
    this.#banner = banner;
  }

  /** Returns the line as the solver may have written it: without a known prefix, and as it is. */
  listReadings(line: string): string[] {
    const readings = this.#shapes.flatMap((shape) => {
      const length = shape.exec(line)?.[0].length ?? 0;
      return length === 0 ? [] : [line.slice(length)];
    });
    return [...readings, line];
  }

  /** Learns the prefix of a line that has a banner behind other text. Returns the line from the banner on. */
  learn(line: string): string | undefined {
    const found = this.#banner.exec(line);
    if (!found || found.index === 0) return undefined;
    const shape = learnShape(line.slice(0, found.index));
    if (!shape) return undefined;
    if (this.#shapes.length < SHAPES_MAX && !this.#shapes.some(({ source }) => source === shape.source))
      this.#shapes.push(shape);
    return line.slice(found.index);
  }
}
