/**
 * Creates a run that a caller requested, as the started test on its instance wants it. A shadow test captures the run; a
 * switchback test sends it to the instance of the current unit. A run that a test sends belongs to that test: no test of
 * the instance to which it is sent captures it or sends it on.
 *
 * No test can prevent a run: if the candidate refuses it, the requested instance executes it. The run still belongs to its
 * unit, marked as refused (intention to treat), whatever the reason: an invalid option, a deleted instance, a full class.
 * If such runs left the test, the candidate's units would have the easy runs only. A request that both instances refuse,
 * such as one of a full queue, creates no run. It belongs to nobody, and the test of the numbers of runs shows when one
 * side has more of them.
 */
import { ERROR_CHARS_MAX } from '@switchyard/contract/limits.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { listConfidentialOptions } from '../../apps/applications/executable.ts';
import type { ApplicationsTable, ExecutablesTable } from '../../apps/applications/schema.ts';
import type { Writer } from '../../platform/database/database.ts';
import { Problem } from '../../platform/http/errors/problem.ts';
import type { RunLabels } from '../run-columns.ts';
import type { ExperimentRef } from '../store/planned-runs.ts';
import {
  findRoute,
  findUnitIndex,
  hasRoute,
  insertCapture,
  isInWindow,
  isSampled,
  normalizeInstanceId,
  type RunRoute,
} from '../store/routes.ts';
import { resolveInstanceId } from './resolve-instance.ts';
import { resolveOptions, type StandardRun, type SubmitParts, submitStandard } from './submit.ts';

/** The fields that the test adds to the run request. */
interface Routed {
  at: number;
  experiment?: ExperimentRef;
  planUnitIndex?: number;
  labels?: string;
}

interface RoutedRequest {
  application: ApplicationsTable;
  /** The instance id of the request. */
  instanceId: string | undefined;
  /** Builds the run request for an instance. */
  buildRun(instanceId: string | undefined, routed: Routed): Promise<StandardRun>;
}

/** Creates the run that was requested. Throws what `submitStandard` throws for the requested instance. */
export async function submitRouted<R>(parts: SubmitParts<R>, request: RoutedRequest): Promise<R> {
  const { database, clock } = parts;
  const { application, instanceId, buildRun } = request;
  const requested = resolveInstanceId(application, instanceId);
  const route = await findRoute(database.read, application.uid, requested);
  const at = clock.now();
  if (route?.rule.kind === 'switchback') {
    const sent = await submitToUnit(parts, request, { requested, at, route });
    if (sent) return sent;
  }
  const run = await buildRun(instanceId, { at });
  const rule = route?.rule;
  if (route === null || rule?.kind !== 'shadow' || !isInWindow(rule, at)) return submitStandard(parts, run);
  const stored = await submitStandard(
    parts,
    withTransactionStep(run, async (tx, id) => {
      const { experimentUid } = route;
      if (isSampled(rule, id) && (await hasRoute(tx, application.uid, requested, experimentUid)))
        await insertCapture(tx, {
          experiment_uid: experimentUid,
          run_id: id,
          application_uid: application.uid,
          at,
        });
    }),
  );
  database.notify('runs-captured');
  return stored;
}

class RouteRemovedError extends Error {}

interface RoutedInstance {
  /** The instance that the caller requested. */
  requested: string;
  at: number;
  route: RunRoute;
}

/** Returns null for a run outside the units of the test, or after its end. Throws what the requested instance throws. */
async function submitToUnit<R>(
  parts: SubmitParts<R>,
  { application, buildRun }: RoutedRequest,
  { requested, at, route }: RoutedInstance,
): Promise<R | null> {
  const { rule, experimentUid: uid, experimentId: id } = route;
  const unit = rule.kind === 'switchback' ? findUnitIndex(rule, at) : null;
  const instance = rule.kind === 'switchback' && unit !== null ? rule.units[unit] : undefined;
  if (unit === null || instance === undefined) return null;
  const build = (instanceId: string) =>
    buildRun(instanceId, { at, experiment: { uid, id, type: 'switchback' }, planUnitIndex: unit });
  const submit = (run: StandardRun) =>
    submitStandard(
      parts,
      withTransactionStep(run, async (tx) => {
        if (!(await hasRoute(tx, application.uid, requested, uid))) throw new RouteRemovedError();
      }),
    );
  try {
    // Two names can mean the same instance; then the run keeps the one in the request.
    if (normalizeInstanceId(instance) === normalizeInstanceId(requested))
      return await submit(await build(requested));
    let refused: StandardRun | null = null;
    try {
      refused = await build(instance);
      return await submit(refused);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const run = await build(requested);
      const labels: RunLabels = {
        candidate_refused: true,
        candidate_refusal: describeRefusal(error, refused, run),
      };
      return await submit({ ...run, labels: JSON.stringify(labels) });
    }
  } catch (error) {
    if (error instanceof RouteRemovedError) return null;
    throw error;
  }
}

/**
 * Returns the reason why the candidate refused a run. Every role can read it, so it names no option that is hidden from
 * any, neither of the app of the candidate nor of that of the baseline.
 */
function describeRefusal(
  { message }: Problem,
  refused: StandardRun | null,
  { target: { executable } }: StandardRun,
): string {
  const hidden = new Set([refused?.target.executable, executable].flatMap(listConfidential));
  if (refused === null || hidden.size === 0) return message.slice(0, ERROR_CHARS_MAX);
  try {
    resolveOptions(refused.target, refused.options, hidden);
    return message.slice(0, ERROR_CHARS_MAX);
  } catch (error) {
    if (error instanceof Problem) return error.message.slice(0, ERROR_CHARS_MAX);
    throw error;
  }
}

const listConfidential = (executable: ExecutablesTable | undefined): string[] =>
  executable ? [...listConfidentialOptions(executable)] : [];

function withTransactionStep(run: StandardRun, step: (tx: Writer, id: RunId) => Promise<void>): StandardRun {
  return {
    ...run,
    async inTransaction(tx, id) {
      await run.inTransaction?.(tx, id);
      await step(tx, id);
    },
  };
}
