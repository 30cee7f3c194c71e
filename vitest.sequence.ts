/**
 * The order of test files. Without durations of an earlier run the runner begins with the largest files. These take longest,
 * although some are small: they come first, so that none of them is alone in the end. Those that wait for apps, leases and
 * processes stand between those that keep a core busy, so that workers that run side by side do not compete.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'cli/documentation/other-pages.test.ts',
  'cli/documentation/using-switchyard.test.ts',
  'bench/benchmarks.test.ts',
  'studies/simulation/simulate.test.ts',
  'conformance/client/templates.test.ts',
  'site/all-pages.test.ts',
  'site/accessibility.test.ts',
  'site/browser.test.ts',
  'runner/hostile.test.ts',
  'runner/lifecycle.test.ts',
  'server/experiments/batch/batch-lifecycle.test.ts',
  'server/runs/workers/workers.test.ts',
  'server/experiments/acceptance/acceptance-lifecycle.test.ts',
  'server/runs/execute/recovery.test.ts',
  'server/ops/clean-up/deletion.test.ts',
  'server/runs/execute/scale-out.test.ts',
  'server/experiments/ensembles/processes.test.ts',
  'server/experiments/processes.test.ts',
  'server/ops/backup/backup.test.ts',
  'server/platform/http/declared-responses.test.ts',
  'server/experiments/batch/ensemble-arms.test.ts',
  'server/experiments/batch/killed-ensembles.test.ts',
  'server/experiments/bisect/killed-servers.test.ts',
  'server/experiments/racing/killed-races.test.ts',
  'conformance/client/sequence.test.ts',
  'server/ops/installation/start.test.ts',
  'cli/first-run/start.test.ts',
  'chaos/chaos.test.ts',
  'checks/baselined-laws.test.ts',
  'server/platform/http/openapi-agreement.test.ts',
];
/** The other tests of the site follow its longest: a worker that goes on with another project loads everything anew. */
const SITE_PLACE = LONGEST.indexOf('site/browser.test.ts') + 0.5;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      const found = LONGEST.findIndex((path) => moduleId.endsWith(path));
      if (found >= 0) return found;
      return project.name === 'site' ? SITE_PLACE : LONGEST.length;
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}
