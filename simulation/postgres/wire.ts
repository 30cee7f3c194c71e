/** The messages of PostgreSQL's protocol, as far as the simulated network must tell them apart. */

const CODES = {
  query: 0x51,
  parse: 0x50,
  bind: 0x42,
  sync: 0x53,
  terminate: 0x58,
  ready: 0x5a,
  notification: 0x41,
  error: 0x45,
  key: 0x4b,
} as const;

/** What a client sends before it waits for an answer. */
export interface RequestUnit {
  kind: 'startup' | 'statement' | 'end';
  bytes: Buffer;
  /** The text of the statement; that of its preparation for a prepared one. */
  sql: string;
}

/** Returns the beginning of the unit for people. */
export function describeUnit({ kind, sql }: RequestUnit): string {
  return kind === 'statement' ? sql.slice(0, 100).replaceAll(/\s+/g, ' ') : kind;
}

/** Cuts the bytes of a client into units. */
export class RequestReader {
  #rest = Buffer.alloc(0);
  #begin = 0;
  #isStarted = false;
  #sql = '';
  readonly #prepared = new Map<string, string>();

  /** Returns the units that end in the bytes. */
  read(bytes: Buffer): RequestUnit[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const units: RequestUnit[] = [];
    for (;;) {
      const at = this.#begin;
      const head = this.#isStarted ? 1 : 0;
      if (this.#rest.length < at + head + 4) return units;
      const end = at + head + this.#rest.readInt32BE(at + head);
      if (this.#rest.length < end) return units;
      const code = this.#isStarted ? this.#rest[at] : undefined;
      const body = this.#rest.subarray(at + head + 4, end);
      this.#begin = end;
      const kind = this.#readMessage(code, body);
      if (!kind) continue;
      units.push({ kind, bytes: this.#rest.subarray(0, end), sql: this.#sql });
      this.#rest = this.#rest.subarray(end);
      this.#begin = 0;
      this.#sql = '';
    }
  }

  /** Returns the kind of the unit that the message ends; null while it goes on. */
  #readMessage(code: number | undefined, body: Buffer): RequestUnit['kind'] | null {
    if (code === undefined) {
      this.#isStarted = true;
      return 'startup';
    }
    if (code === CODES.terminate) return 'end';
    if (code === CODES.query) {
      [this.#sql = ''] = readTexts(body, 1);
      return 'statement';
    }
    if (code === CODES.parse) {
      const [name = '', sql = ''] = readTexts(body, 2);
      this.#sql = sql;
      if (name !== '') this.#prepared.set(name, sql);
    }
    if (code === CODES.bind && this.#sql === '') {
      const [, name = ''] = readTexts(body, 2);
      this.#sql = this.#prepared.get(name) ?? '';
    }
    return code === CODES.sync ? 'statement' : null;
  }
}

/** Reads texts that end with a zero byte. */
function readTexts(body: Buffer, count: number): string[] {
  const texts: string[] = [];
  for (let at = 0; texts.length < count; ) {
    const end = body.indexOf(0, at);
    texts.push(body.toString('utf8', at, end));
    at = end + 1;
  }
  return texts;
}

/** One message of the server. */
export interface ResponseMessage {
  kind: keyof typeof CODES | 'other';
  bytes: Buffer;
}

const KINDS = new Map<number | undefined, keyof typeof CODES>(
  (['ready', 'notification', 'error', 'key'] as const).map((kind) => [CODES[kind], kind]),
);

/** Cuts the bytes of the server into messages. */
export class ResponseReader {
  #rest = Buffer.alloc(0);

  read(bytes: Buffer): ResponseMessage[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const messages: ResponseMessage[] = [];
    while (this.#rest.length >= 5) {
      const end = 1 + this.#rest.readInt32BE(1);
      if (this.#rest.length < end) break;
      messages.push({ kind: KINDS.get(this.#rest[0]) ?? 'other', bytes: this.#rest.subarray(0, end) });
      this.#rest = this.#rest.subarray(end);
    }
    return messages;
  }
}

function formatMessage(code: number, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = code;
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Returns a statement of the simple protocol. */
export const formatQuery = (sql: string): Buffer => formatMessage(CODES.query, Buffer.from(`${sql}\0`));

/** Returns the error that PostgreSQL reports with the state. */
export function formatError(state: string, message: string): Buffer {
  return formatMessage(CODES.error, Buffer.from(`SERROR\0VERROR\0C${state}\0M${message}\0\0`));
}
