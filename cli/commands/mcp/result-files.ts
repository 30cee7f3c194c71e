/**
 * Large results of tools, as files. An agent pays for each character of a response, so it gets the beginning and a reference,
 * and reads from the file what it needs.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A larger result is a file. */
const INLINE_CHARS_MAX = 20_000;
const PREVIEW_CHARS = 1000;
const FILES_MAX = 200;

/** A stored result. */
export interface ResultFile {
  uri: string;
  name: string;
  mimeType: string;
  size: number;
}

/** The part of a tool's response that an agent reads. */
export type Content = { type: 'text'; text: string } | ({ type: 'resource_link' } & ResultFile);

/** The files of one session, readable by the user alone; `close` removes them. */
export class ResultFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'switchyard-mcp-'));
  readonly #files = new Map<string, { path: string; file: ResultFile }>();
  #count = 0;

  /** Returns the text itself, or for a long one its beginning and a link to a file with all of it. */
  present(name: string, text: string, mimeType = 'application/json'): Content[] {
    if (text.length <= INLINE_CHARS_MAX) return [{ type: 'text', text }];
    const file = this.store(name, text, mimeType);
    const preview = text.slice(0, PREVIEW_CHARS);
    return [
      {
        type: 'text',
        text: `The result has ${file.size} bytes. All of it is in ${file.uri}. It begins:\n${preview}`,
      },
      { type: 'resource_link', ...file },
    ];
  }

  /** Stores content as a file. The oldest file goes when there are too many. */
  store(name: string, content: string | Uint8Array, mimeType: string): ResultFile {
    this.#count += 1;
    const extension = mimeType === 'application/json' ? 'json' : mimeType.startsWith('text/') ? 'txt' : 'bin';
    const path = join(this.#folder, `${this.#count}-${name}.${extension}`);
    writeFileSync(path, content, { mode: 0o600 });
    const size = Buffer.byteLength(content);
    const file = { uri: pathToFileURL(path).href, name: `${name} ${this.#count}`, mimeType, size };
    this.#files.set(file.uri, { path, file });
    const [oldest] = this.#files;
    if (this.#files.size > FILES_MAX && oldest) {
      rmSync(oldest[1].path, { force: true });
      this.#files.delete(oldest[0]);
    }
    return file;
  }

  list(): ResultFile[] {
    return [...this.#files.values()].map(({ file }) => file);
  }

  /** Returns the content of a stored result; undefined for any other address, so that no other file is read. */
  read(uri: string): { file: ResultFile; content: Buffer } | undefined {
    const found = this.#files.get(uri);
    return found && { file: found.file, content: readFileSync(found.path) };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
