/** The runs that one command would create. */
import type { Session } from '../../session/session.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import { readTarget } from '../find-experiment.ts';
import { describeRuns, describeTime } from './size-experiment.ts';

/** Prints the number of runs of each instance, and how long they take. */
export async function printRunPlan(
  session: Session,
  runs: readonly { instance: string; runs: number }[],
): Promise<void> {
  const { client, application } = readTarget(session);
  const { signal } = session.terminal;
  const time = await describeTime(client, { application, signal }, { runs, rounds: 1, planMs: 0 });
  const lines = [describeRuns({ runs, units: 0, search: null }), time, 'Nothing was created.'];
  session.output.print({ json: { runs, time }, text: () => `${lines.map(cleanText).join('\n')}\n` });
}
