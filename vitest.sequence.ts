/**
 * The order of test files. Without a memory of the last time the runner begins with the largest files, and the longest of
 * all, whose tests are the examples of all pages, would be alone in the end, on one of two cores.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'cli/documentation.test.ts',
  'site/accessibility.test.ts',
  'site/browser.test.ts',
  'cli/start.test.ts',
  'server/experiments/batch/batch-lifecycle.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.findIndex((path) => moduleId.endsWith(path));
      return found < 0 ? LONGEST.length : found;
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}
