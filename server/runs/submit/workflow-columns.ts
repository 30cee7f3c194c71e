/** The columns of a run that belongs to a workflow, or is one. */
import { WORKFLOW_DEPTH_MAX } from '@switchyard/contract/limits.ts';
import type { RequestedConfiguration } from '../../apps/instances/rules.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import type { CallingRun } from '../../platform/http/handlers/handler.ts';
import type { WorkflowName } from '../run-columns.ts';
import { isProductionRun } from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';

/** The run request, as far as it says to which workflow the run belongs. */
interface WorkflowRequest {
  /** The run whose app requests the run; absent for any other caller. */
  workflow?: CallingRun | undefined;
  /** The parent run of a planned run. */
  parent?: ParentRun | undefined;
}

/** A parent run, as far as the run below it depends on it. */
export type ParentRun = Pick<
  RunsTable,
  'workflow_depth' | 'experiment_id' | 'experiment_type' | 'child_of_experiment'
>;

/** The run of an ensemble and the copy of a shadow test stand for their parent, and so have its depth. */
function computeDepth({ workflow, parent }: WorkflowRequest): number {
  return workflow ? workflow.depth + 1 : (parent?.workflow_depth ?? 0);
}

/** Returns the columns that name the workflow whose app requests the run, and place the run below the runs above it. */
export function formatWorkflow(
  request: WorkflowRequest,
): Pick<RunsTable, 'workflow' | 'workflow_depth' | 'child_of_experiment'> {
  const { workflow, parent } = request;
  const isProduction = workflow?.isProduction ?? (parent === undefined || isProductionRun(parent));
  const name: WorkflowName | null = workflow
    ? { application_id: workflow.applicationId, name: workflow.name }
    : null;
  return {
    workflow: name && JSON.stringify(name),
    workflow_depth: computeDepth(request),
    child_of_experiment: isProduction ? null : 1,
  };
}

/**
 * Returns the applications that the app of the run can reach, in JSON; null without access. Throws a 400 when the run would
 * be a workflow on a level too deep.
 */
export function formatApiAccess(
  request: WorkflowRequest,
  { api_access }: RequestedConfiguration,
): string | null {
  if (!api_access) return null;
  const depth = computeDepth(request);
  if (depth >= WORKFLOW_DEPTH_MAX)
    throw badRequest(
      `The instance has api_access, so the run would be a workflow on level ${depth + 1}; there are ${WORKFLOW_DEPTH_MAX} levels. Let a workflow above create the run.`,
    );
  return JSON.stringify(api_access.applications);
}
