/**
 * The code under test. Every restart loads it from the disk again. After a checkout, an edit or an installation, the
 * restarted server would be another version that migrates the database, and the outcome would describe an upgrade. The
 * chaos test therefore ends at the first restart that would load changed code.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Code that the server, its launcher and its apps load; `package-lock.json` lists the packages. */
const FOLDERS = ['contract', 'runner', 'server', 'chaos'];
const FILES = ['package-lock.json'];
const NAMES_MAX = 5;

/** Hashes of the code under test. */
export class CodeSnapshot {
  readonly #root: string;
  readonly #hashes: ReadonlyMap<string, string>;

  /** Reads the code below the root of the repository. */
  constructor(root: string) {
    this.#root = root;
    this.#hashes = hashFilesBelow(root);
  }

  /** Throws an error that names the files changed, added or removed since the snapshot. */
  assertUnchanged(): void {
    const now = hashFilesBelow(this.#root);
    const changed = [...new Set([...this.#hashes.keys(), ...now.keys()])]
      .filter((path) => this.#hashes.get(path) !== now.get(path))
      .sort();
    if (changed.length === 0) return;
    const more = changed.length > NAMES_MAX ? ` and ${changed.length - NAMES_MAX} more` : '';
    throw new Error(
      `The code changed during the run (${changed.slice(0, NAMES_MAX).join(', ')}${more}), so a restart would test another version. Run the chaos test in a separate copy of the repository.`,
    );
  }
}

/** Returns the hash of each file, by its path below the root. Tests are excluded, because no server loads them. */
function hashFilesBelow(root: string): Map<string, string> {
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
