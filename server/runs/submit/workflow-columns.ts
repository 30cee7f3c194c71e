/** The columns of a run that belongs to a workflow, or is one. */
import { WORKFLOW_DEPTH_MAX } from '@switchyard/contract/limits.ts';
import { badRequest } from '../../http/errors/problem.ts';
import type { CallingRun } from '../../http/handlers/handler.ts';
import type { RequestedConfiguration } from '../../instances/rules.ts';
import type { RunsTable } from '../store/schema.ts';
import type { WorkflowName } from '../workflows/children.ts';

/** Returns the columns that name the workflow whose app requests the run; undefined is for any other caller. */
export function formatWorkflow(
  workflow: CallingRun | undefined,
): Pick<RunsTable, 'workflow' | 'workflow_depth'> {
  if (!workflow) return { workflow: null, workflow_depth: 0 };
  const name: WorkflowName = { application_id: workflow.applicationId, name: workflow.name };
  return { workflow: JSON.stringify(name), workflow_depth: workflow.depth + 1 };
}

/**
 * Returns the applications that the app of the run can reach, in JSON; null without access. Throws a 400 when the run would
 * be a workflow on a level too deep.
 */
export function formatApiAccess(
  workflow: CallingRun | undefined,
  { api_access }: RequestedConfiguration,
): string | null {
  if (!api_access) return null;
  if (workflow && workflow.depth + 1 >= WORKFLOW_DEPTH_MAX)
    throw badRequest(
      `The instance has api_access, so the run would be a workflow on level ${workflow.depth + 2}; there are ${WORKFLOW_DEPTH_MAX} levels. Let a workflow above create the run.`,
    );
  return JSON.stringify(api_access.applications);
}
