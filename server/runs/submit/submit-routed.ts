/**
 * Makes a run that a caller asked for, as the test that has started on its instance wants it: noted for a shadow test, or
 * made on the instance of the unit that is on in a switchback test. No test can keep a run from being made: what the
 * candidate does not take is made on the instance that was asked for, and is none of the test's. What a test sends is its
 * own: no test of the instance to which it is sent copies it, or sends it on.
 */
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import type { Writer } from '../../database/database.ts';
import { Problem } from '../../http/errors/problem.ts';
import type { ExperimentRef } from '../store/planned-runs.ts';
import {
  findRoute,
  findUnitIndex,
  hasRoute,
  insertCapture,
  isCaptured,
  normalizeInstanceId,
  type RunRoute,
} from '../store/routes.ts';
import type { RunsTable } from '../store/schema.ts';
import { resolveInstanceId } from './resolve-instance.ts';
import { type StandardRun, type SubmitParts, submitStandard } from './submit.ts';

/** What the test adds to what is asked for. */
interface Routed {
  at: number;
  experiment?: ExperimentRef;
  planUnitIndex?: number;
}

type Ask = (instanceId: string | undefined, routed: Routed) => Promise<StandardRun>;

/** `ask` makes the submission for an instance; `instanceId` is as the request has it. */
export async function submitRouted(
  parts: SubmitParts,
  application: ApplicationsTable,
  instanceId: string | undefined,
  ask: Ask,
): Promise<RunsTable> {
  const { database, clock } = parts;
  const chosen = resolveInstanceId(application, instanceId);
  const route = await findRoute(database.read, application.uid, chosen);
  const at = clock.now();
  if (route?.rule.kind === 'switchback') {
    const sent = await submitToUnit(parts, application, chosen, at, route, ask);
    if (sent) return sent;
  }
  const asked = await ask(instanceId, { at });
  if (route?.rule.kind !== 'shadow' || !isCaptured(route.rule, at)) return submitStandard(parts, asked);
  const run = await submitStandard(
    parts,
    withTransactionStep(asked, async (tx, id) => {
      const { experimentUid } = route;
      if (await hasRoute(tx, application.uid, chosen, experimentUid))
        await insertCapture(tx, {
          experiment_uid: experimentUid,
          run_id: id,
          application_uid: application.uid,
          at,
        });
    }),
  );
  database.notify('runs-captured');
  return run;
}

class RouteGone extends Error {}

/** null when the test has nothing to say about the run: between units, over meanwhile, or the candidate takes it not. */
async function submitToUnit(
  parts: SubmitParts,
  application: ApplicationsTable,
  chosen: string,
  at: number,
  { rule, experimentUid: uid, experimentId: id }: RunRoute,
  ask: Ask,
): Promise<RunsTable | null> {
  const unit = rule.kind === 'switchback' ? findUnitIndex(rule, at) : null;
  const instance = rule.kind === 'switchback' && unit !== null ? rule.units[unit] : undefined;
  if (unit === null || instance === undefined) return null;
  try {
    // The name that was asked for is kept where it is the same instance.
    const asked = await ask(
      normalizeInstanceId(instance) === normalizeInstanceId(chosen) ? chosen : instance,
      {
        at,
        experiment: { uid, id, type: 'switchback' },
        planUnitIndex: unit,
      },
    );
    return await submitStandard(
      parts,
      withTransactionStep(asked, async (tx) => {
        if (!(await hasRoute(tx, application.uid, chosen, uid))) throw new RouteGone();
      }),
    );
  } catch (error) {
    if (error instanceof RouteGone || error instanceof Problem) return null;
    throw error;
  }
}

function withTransactionStep(
  asked: StandardRun,
  more: (tx: Writer, id: RunId) => Promise<void>,
): StandardRun {
  return {
    ...asked,
    async inTransaction(tx, id) {
      await asked.inTransaction?.(tx, id);
      await more(tx, id);
    },
  };
}
