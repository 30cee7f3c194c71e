/** The law of exports: another file imports every export. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../source-files.ts';
import type { Law, Violation } from '../violation.ts';

interface KnipFinding {
  name: string;
  line?: number;
}

interface KnipIssue {
  file: string;
  files?: KnipFinding[];
  exports?: KnipFinding[];
  types?: KnipFinding[];
  duplicates?: KnipFinding[][];
}

const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;

/**
 * Returns the violations that knip finds in a repository. knip has no programming interface, so this runs its command.
 * `checks/knip.json` lists the entry points, which no other file imports. Throws when knip cannot read the repository.
 */
export function findUnusedExports(folder: string, configuration: string): Violation[] {
  const command = join(ROOT, 'node_modules/knip/bin/knip.js');
  const parameters = ['--config', configuration, '--no-progress', '--reporter', 'json', '--no-exit-code'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...parameters], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  if (status !== 0) throw new Error(`knip failed with exit code ${status}: ${stderr}`);
  const { issues }: { issues: KnipIssue[] } = JSON.parse(stdout);
  return issues.flatMap(({ file, files = [], exports = [], types = [], duplicates = [] }) => [
    ...files.map(() => ({
      path: file,
      line: 1,
      message: 'is imported by no file: delete it, or add it to the entries in checks/knip.json.',
    })),
    ...[...exports, ...types].map(({ name, line = 1 }) => ({
      path: file,
      line,
      message: `exports ${name}, which no other file imports: drop the export, or delete it.`,
    })),
    ...duplicates.map((names) => ({
      path: file,
      line: names[0]?.line ?? 1,
      message: `exports one thing as ${names.map(({ name }) => name).join(' and ')}: keep one name.`,
    })),
  ]);
}

/** Another file imports every export. Another file imports every file, or it is a listed entry. */
export const unusedExports: Law = {
  name: 'unused-exports',
  findViolations: () => findUnusedExports(ROOT, 'checks/knip.json'),
};
