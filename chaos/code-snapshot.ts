/**
 * The code under test. Every restart loads it from the disk again: after a checkout, an edit or an install in between, the
 * restarted server is another version, which migrates the database, and the verdict is about an upgrade that nobody asked
 * for. So the run ends at the first restart that would load other code.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the server, its launcher and its apps load; `package-lock.json` stands for the packages. */
const FOLDERS = ['contract', 'runner', 'server', 'chaos'];
const FILES = ['package-lock.json'];
const NAMES_SHOWN = 5;

export class CodeSnapshot {
  readonly #root: string;
  readonly #hashes: ReadonlyMap<string, string>;

  /** Reads the code below the root of the repository, as it is now. */
  constructor(root: string) {
    this.#root = root;
    this.#hashes = hashesBelow(root);
  }

  /** Throws an error that names the files that were changed, added or removed since. */
  assertUnchanged(): void {
    const now = hashesBelow(this.#root);
    const changed = [...new Set([...this.#hashes.keys(), ...now.keys()])]
      .filter((path) => this.#hashes.get(path) !== now.get(path))
      .sort();
    if (changed.length === 0) return;
    const more = changed.length > NAMES_SHOWN ? ` and ${changed.length - NAMES_SHOWN} more` : '';
    throw new Error(
      `The code changed during the run (${changed.slice(0, NAMES_SHOWN).join(', ')}${more}), so a restart would test another version. Run it again in a copy that nobody changes.`,
    );
  }
}

/** The hash of each file, by its path below the root. Tests are left out: no server loads them. */
function hashesBelow(root: string): Map<string, string> {
  const paths = FOLDERS.flatMap((folder) =>
    existsSync(join(root, folder))
      ? (readdirSync(join(root, folder), { recursive: true }) as string[])
          .filter((path) => /\.(ts|py)$/.test(path) && !/\.test\.ts$|(^|\/)node_modules\//.test(path))
          .map((path) => join(folder, path))
      : [],
  );
  const present = [...paths, ...FILES].filter((path) => existsSync(join(root, path)));
  return new Map(
    present.map((path) => [
      path,
      createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex'),
    ]),
  );
}
