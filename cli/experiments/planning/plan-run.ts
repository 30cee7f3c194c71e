/** The runs that one command `run` would create. */
import type { Session } from '../../session/session.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import { readTarget } from '../find-experiment.ts';
import { describeRuns, describeTime } from './size-experiment.ts';

/** Prints the number of runs of the instance, or of the groups of an ensemble, and how long they take. */
export async function planRun(
  session: Session,
  { ensembleId, instanceId }: { ensembleId?: string | undefined; instanceId?: string | undefined },
): Promise<void> {
  const { client, application } = readTarget(session);
  const params = { application_id: application };
  const runs = [];
  if (ensembleId !== undefined) {
    const { body } = await client.call('getEnsemble', { params: { ...params, ensemble_id: ensembleId } });
    for (const group of body.run_groups) runs.push({ instance: group.instance_id, runs: group.repetitions });
  } else {
    const { body } = await client.call('getApplication', { params });
    runs.push({ instance: instanceId ?? (body.default_instance || 'latest'), runs: 1 });
  }
  const { signal } = session.terminal;
  const time = await describeTime(client, { application, signal }, { runs, rounds: 1, planMs: 0 });
  const lines = [describeRuns({ runs, units: 0, search: null }), time, 'Nothing was created.'];
  session.output.print({ json: { runs, time }, text: () => `${lines.map(cleanText).join('\n')}\n` });
}
